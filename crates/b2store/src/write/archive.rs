//! The bytes of a zip archive with stored members, as a store: the records are in memory, and the
//! data between them are read from the members ("Writing" in `docs/formats/store.md`).
//!
//! `rawzip` writes archives as streams, with lengths after the data. Here lengths are known before,
//! so every reader finds them in the local header.

use core::ops::Range;
use std::io;
use std::sync::Arc;

use blosc_container::crc32::Crc32;
use blosc_io::{Joined, ReadAt};

use crate::error::{Error, Param, Result};

/// A file for an archive that will be written.
pub(crate) struct NewMember {
    pub(crate) name: String,
    pub(crate) data: Arc<dyn ReadAt>,
    /// Its checksum, if known.
    pub(crate) crc32: Option<u32>,
}

/// The fields that both headers of a member have.
struct Record {
    name: String,
    crc32: u32,
    nbytes: u64,
    /// Position of the local header.
    start: u64,
}

/// An archive of these members, in this order.
pub(crate) fn archive(members: Vec<NewMember>) -> Result<Joined> {
    let mut joined = Joined::new();
    let mut records = Vec::with_capacity(members.len());
    for NewMember { name, data, crc32 } in members {
        let nbytes = data.len().map_err(|source| Error::io(&name, source))?;
        let crc32 = match crc32 {
            Some(crc32) => crc32,
            None => crc32_of(&*data, 0..nbytes).map_err(|source| Error::io(&name, source))?,
        };
        let record = Record { name, crc32, nbytes, start: joined.nbytes() };
        joined.push_bytes(record.local_header()?);
        joined.push(data, nbytes);
        records.push(record);
    }
    let start = joined.nbytes();
    let mut directory = Vec::new();
    for record in &records {
        record.push_entry(&mut directory)?;
    }
    push_end(&mut directory, records.len() as u64, start);
    joined.push_bytes(directory);
    Ok(joined)
}

/// The bytes of a zip archive of these files, which need not be a store, in their order.
///
/// # Errors
///
/// A name that is too long; a file that cannot be read.
pub fn joined_archive(files: Vec<(String, Arc<dyn ReadAt>)>) -> Result<Arc<dyn ReadAt>> {
    let member = |(name, data)| NewMember { name, data, crc32: None };
    Ok(Arc::new(archive(files.into_iter().map(member).collect())?))
}

/// The CRC-32 of a store.
pub(crate) fn crc32_of(store: &dyn ReadAt, range: Range<u64>) -> io::Result<u32> {
    let (mut crc, mut at, mut buffer) = (Crc32::default(), range.start, vec![0; 1 << 16]);
    while at < range.end {
        let left = usize::try_from(range.end.saturating_sub(at)).unwrap_or(usize::MAX);
        buffer.truncate(left);
        store.read_exact_at(at, &mut buffer)?;
        crc.update(&buffer);
        at = at.saturating_add(buffer.len() as u64);
    }
    Ok(crc.finish())
}

/// Marks a number that does not fit 32 bits; the field of zip64 has the number.
const IN_ZIP64: u32 = u32::MAX;
const VERSION: u16 = 20;
const VERSION_ZIP64: u16 = 45;
/// The code for an archive made on Unix.
const MADE_BY_UNIX: u16 = 0x0300;
/// 1980-01-01, the first date of the format.
const DATE: u16 = 0x21;
/// The mode of an ordinary file that its owner may write.
const MODE: u32 = 0o100_644 << 16;

impl Record {
    fn is_large(&self) -> bool {
        self.nbytes >= u64::from(IN_ZIP64)
    }

    fn flags(&self) -> u16 {
        // Bit 11: the name is UTF-8.
        if self.name.is_ascii() { 0 } else { 1 << 11 }
    }

    fn name_len(&self) -> Result<u16> {
        let len = self.name.len();
        u16::try_from(len).map_err(|_| Param::MemberName { len: len as u64 }.into())
    }

    fn local_header(&self) -> Result<Vec<u8>> {
        let size = narrow(self.nbytes);
        let version = if self.is_large() { VERSION_ZIP64 } else { VERSION };
        let mut bytes = b"PK\x03\x04".to_vec();
        for field in [version, self.flags(), 0, 0, DATE] {
            bytes.extend(field.to_le_bytes());
        }
        for field in [self.crc32, size, size] {
            bytes.extend(field.to_le_bytes());
        }
        let extra = self.zip64_field(&[self.nbytes, self.nbytes], self.is_large());
        bytes.extend(self.name_len()?.to_le_bytes());
        bytes.extend(short(extra.len()).to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes.extend(extra);
        Ok(bytes)
    }

    fn push_entry(&self, bytes: &mut Vec<u8>) -> Result<()> {
        let is_far = self.start >= u64::from(IN_ZIP64);
        let mut wide = Vec::new();
        if self.is_large() {
            wide.extend([self.nbytes, self.nbytes]);
        }
        if is_far {
            wide.push(self.start);
        }
        let extra = self.zip64_field(&wide, !wide.is_empty());
        let version = if wide.is_empty() { VERSION } else { VERSION_ZIP64 };
        bytes.extend(b"PK\x01\x02");
        for field in [MADE_BY_UNIX | version, version, self.flags(), 0, 0, DATE] {
            bytes.extend(field.to_le_bytes());
        }
        for field in [self.crc32, narrow(self.nbytes), narrow(self.nbytes)] {
            bytes.extend(field.to_le_bytes());
        }
        // No comment, the first disk, no internal attributes.
        for field in [self.name_len()?, short(extra.len()), 0, 0, 0] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(MODE.to_le_bytes());
        bytes.extend(narrow(self.start).to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes.extend(extra);
        Ok(())
    }

    /// The extra field with numbers of 64 bits.
    #[expect(clippy::unused_self, reason = "it is a part of the record")]
    fn zip64_field(&self, numbers: &[u64], is_needed: bool) -> Vec<u8> {
        if !is_needed {
            return Vec::new();
        }
        let mut field = 1_u16.to_le_bytes().to_vec();
        field.extend(short(numbers.len().saturating_mul(8)).to_le_bytes());
        numbers.iter().for_each(|number| field.extend(number.to_le_bytes()));
        field
    }
}

/// The end records, after a directory that starts at `start`.
fn push_end(bytes: &mut Vec<u8>, nmembers: u64, start: u64) {
    let len = bytes.len() as u64;
    let count = u16::try_from(nmembers).unwrap_or(u16::MAX);
    let large = [len, start].iter().any(|number| *number >= u64::from(IN_ZIP64));
    if large || count == u16::MAX {
        bytes.extend(b"PK\x06\x06");
        bytes.extend(44_u64.to_le_bytes());
        bytes.extend((MADE_BY_UNIX | VERSION_ZIP64).to_le_bytes());
        bytes.extend(VERSION_ZIP64.to_le_bytes());
        bytes.extend([0; 8]);
        for number in [nmembers, nmembers, len, start] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(b"PK\x06\x07");
        bytes.extend([0; 4]);
        bytes.extend(start.saturating_add(len).to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
    }
    bytes.extend(b"PK\x05\x06");
    bytes.extend([0; 4]);
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(narrow(len).to_le_bytes());
    bytes.extend(narrow(start).to_le_bytes());
    bytes.extend([0; 2]);
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(IN_ZIP64)
}

fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use blosc_container::crc32::crc32;
    use blosc_io::MemStore;

    use super::*;
    use crate::zip::members;

    /// A store of zeros of this length (bytes).
    struct Zeros(u64);

    impl ReadAt for Zeros {
        fn len(&self) -> io::Result<u64> {
            Ok(self.0)
        }

        fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
            let count = usize::try_from(self.0 - at.min(self.0)).unwrap().min(buf.len());
            buf[..count].fill(0);
            Ok(count)
        }
    }

    fn member(name: &str, data: Arc<dyn ReadAt>, crc32: Option<u32>) -> NewMember {
        NewMember { name: name.to_owned(), data, crc32 }
    }

    #[test]
    fn members_are_found_where_they_are() {
        let bytes = |text: &[u8]| -> Arc<dyn ReadAt> { Arc::new(MemStore::new(text.to_vec())) };
        let made = archive(vec![
            member("g/ä.b2nd", bytes(b"first"), None),
            member("empty", bytes(b""), None),
            member("embed.b2e", bytes(b"second"), None),
        ]);
        let store: Arc<dyn ReadAt> = Arc::new(made.unwrap());
        let found = members(&store, 10).unwrap();
        let names: Vec<&str> = found.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["embed.b2e", "empty", "g/ä.b2nd"]);
        for (member, expected) in found.iter().zip([&b"second"[..], b"", b"first"]) {
            let mut data = vec![0; usize::try_from(member.nbytes).unwrap()];
            store.read_exact_at(member.position, &mut data).unwrap();
            assert_eq!(data, expected);
            assert_eq!(member.crc32, crc32(expected));
        }
        let mut whole = vec![0; usize::try_from(store.len().unwrap()).unwrap()];
        store.read_exact_at(0, &mut whole).unwrap();
        blosc_io::testing::check_read_at(&*store, &whole).unwrap();
    }

    /// Cases 43 and 44: records of zip64, for members of 5 GiB and for 65,536 members.
    #[test]
    fn large_archives_have_records_of_64_bits() {
        let large = || -> Arc<dyn ReadAt> { Arc::new(Zeros(5 << 30)) };
        let made = [("a", large()), ("b", large()), ("c", Arc::new(Zeros(7)))];
        let made = made.into_iter().map(|(name, data)| member(name, data, Some(0))).collect();
        let store: Arc<dyn ReadAt> = Arc::new(archive(made).unwrap());
        let found = members(&store, 10).unwrap();
        let nbytes: Vec<u64> = found.iter().map(|member| member.nbytes).collect();
        assert_eq!(nbytes, [5 << 30, 5 << 30, 7]);
        assert!(found[2].position > 10 << 30);

        let made = (0..65_536).map(|n| member(&n.to_string(), Arc::new(Zeros(1)), Some(0)));
        let store: Arc<dyn ReadAt> = Arc::new(archive(made.collect()).unwrap());
        assert_eq!(members(&store, 70_000).unwrap().len(), 65_536);
    }
}
