//! Arrays of NumPy in a zip archive, as `numpy.savez` and `numpy.savez_compressed` write them.
//!
//! Each `.npy` file in the archive is an array. Opening decompresses arrays that zip has
//! compressed; reads take others from their place.

use core::ops::Range;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use b2store::ArchiveMember;
use blosc_dtype::Dtype;
use blosc_io::{MemStore, ReadAt, Windowed};

use crate::array::Array;
use crate::content;
use crate::dataset::{Data, Dataset};
use crate::error::{Doing, Error, Result};
use crate::format::Format;
use crate::group::{Group, Member, MemberKind};
use crate::params::OpenOptions;
use crate::size::{as_len, check_memory};
use crate::source::{ForeignGroup, Opened, Source, lost_others};
use crate::verify::{OnProgress, Report, VerifyOptions, add_fault};
use crate::word::Part;

/// The checksum that an archive has of each member.
const CHECKSUM: &str = "crc32";

/// Largest array that is decompressed, since it is kept in memory (bytes).
const MAX_UNPACKED_NBYTES: u64 = 256 << 20;

/// The arrays of an archive.
///
/// # Errors
///
/// An archive that cannot be read.
pub(crate) fn data(file: Arc<dyn ReadAt>, name: &str) -> Result<Data> {
    Ok(Data::Group(Arc::new(Archive::open(file, name)?)))
}

/// An archive of NumPy arrays as a group, or the array in it that `part` names; `None` for another
/// kind of part. `name` becomes the prefix of the members' names.
///
/// # Errors
///
/// An archive that cannot be read, or lacks the array.
pub fn open_archive(file: Arc<dyn ReadAt>, name: &str, part: &Part) -> Result<Option<Opened>> {
    let archive = Archive::open(file, name)?;
    Ok(match part {
        Part::Whole => {
            let members = archive.arrays().map(|(key, _)| format!("{name}::{key}")).collect();
            let others = archive.others();
            let group = ForeignGroup { format: "npz", members, others, ..Default::default() };
            Some(Opened::Group(Arc::new(group)))
        }
        Part::Member(key) => match archive.open(key)?.data {
            Data::Array(array) => Some(Opened::Array(array)),
            _ => None,
        },
        _ => None,
    })
}

/// An archive and its members.
struct Archive {
    file: Arc<dyn ReadAt>,
    name: String,
    members: Vec<ArchiveMember>,
}

impl core::fmt::Debug for Archive {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Archive").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Archive {
    fn open(file: Arc<dyn ReadAt>, name: &str) -> Result<Self> {
        let members = b2store::archive_members(&file)?;
        Ok(Self { file, name: name.to_owned(), members })
    }

    /// The arrays by their keys.
    fn arrays(&self) -> impl Iterator<Item = (String, &ArchiveMember)> {
        self.members.iter().filter_map(|member| Some((key_of(member)?, member)))
    }

    /// The files that are no arrays, by their paths.
    fn others(&self) -> BTreeMap<String, String> {
        let others = self.members.iter().filter(|member| key_of(member).is_none());
        others.map(|it| (format!("/{}", it.name), "file that is no array".to_owned())).collect()
    }
}

/// The key of an array; `None` for other files.
fn key_of(member: &ArchiveMember) -> Option<String> {
    Some(format!("/{}", member.name.strip_suffix(".npy")?))
}

/// The uncompressed bytes of a member. Decompressed bytes are compared with their checksum.
pub(crate) fn plain(file: &Arc<dyn ReadAt>, member: &ArchiveMember) -> Result<Arc<dyn ReadAt>> {
    let unread = |error: b2store::Error| {
        Error::Opener(io::Error::new(io::ErrorKind::Unsupported, error.to_string()))
    };
    member.check_readable().map_err(unread)?;
    let stored = Windowed::new(Arc::clone(file), member.position, member.stored_nbytes);
    let stored = stored.map_err(Error::io(Doing::Open))?;
    if !member.is_packed {
        return Ok(Arc::new(stored));
    }
    check_memory(member.nbytes.max(member.stored_nbytes), MAX_UNPACKED_NBYTES)?;
    let mut packed = vec![0; as_len(member.stored_nbytes)];
    stored.read_exact_at(0, &mut packed).map_err(Error::io(Doing::Read))?;
    let plain = Arc::new(MemStore::new(inflated(&packed, as_len(member.nbytes), member)?));
    member.check(&*plain).map_err(of_member)?;
    Ok(plain)
}

/// The error of a damaged member. The archive is not a store, so no rescue is suggested.
fn of_member(error: b2store::Error) -> Error {
    match error {
        damage @ (b2store::Error::Zip(_) | b2store::Error::Corrupt { .. }) => {
            Error::Opener(io::Error::new(io::ErrorKind::InvalidData, damage.to_string()))
        }
        error => error.into(),
    }
}

/// Decompresses a member.
#[cfg(feature = "zlib")]
fn inflated(packed: &[u8], nbytes: usize, member: &ArchiveMember) -> Result<Vec<u8>> {
    use zlib_rs::{Inflate, InflateFlush, Status};
    let mut plain = vec![0; nbytes];
    let mut inflate = Inflate::new(false, 15);
    let status = inflate.decompress(packed, &mut plain, InflateFlush::Finish);
    match status {
        Ok(Status::StreamEnd) if inflate.total_out() == nbytes as u64 => Ok(plain),
        _ => Err(of_member(member.damaged())),
    }
}

#[cfg(not(feature = "zlib"))]
fn inflated(_: &[u8], _: usize, _: &ArchiveMember) -> Result<Vec<u8>> {
    Err(Error::NotOurs(Format::Other("an array that zip has compressed")))
}

impl Group for Archive {
    fn format(&self) -> &'static str {
        "npz"
    }

    fn lost(&self) -> Vec<String> {
        lost_others(&self.others()).collect()
    }

    fn members(&self) -> Result<Vec<Member>> {
        Ok(self.arrays().map(|(key, _)| Member::new(key, MemberKind::Value)).collect())
    }

    fn open(&self, name: &str) -> Result<Dataset> {
        let key = format!("/{}", name.trim_matches('/'));
        let found = self.arrays().find(|(known, _)| *known == key);
        let (_, member) = found.ok_or_else(|| Error::NoMember { name: key.clone() })?;
        let (name, plain) = (format!("{}::{key}", self.name), plain(&self.file, member)?);
        let options = OpenOptions::default();
        let array = content::of_format(Format::Npy, Source::File(Arc::clone(&plain)), &options)?;
        let data = match array.into_data(&name, &options.budget)? {
            Data::Array(array) => {
                Data::Array(Arc::new(Summed { array, plain, member: member.clone() }))
            }
            data => data,
        };
        Ok(Dataset::new(name, Format::Npy, data))
    }
}

/// An array that the archive has a checksum of.
struct Summed {
    array: Arc<dyn Array>,
    /// The file that the checksum covers.
    plain: Arc<dyn ReadAt>,
    member: ArchiveMember,
}

impl core::fmt::Debug for Summed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Summed").field("array", &self.array).finish_non_exhaustive()
    }
}

impl Array for Summed {
    fn format(&self) -> &'static str {
        self.array.format()
    }

    fn dtype(&self) -> &Dtype {
        self.array.dtype()
    }

    fn shape(&self) -> &[u64] {
        self.array.shape()
    }

    fn stored_nbytes(&self) -> Option<u64> {
        self.array.stored_nbytes()
    }

    fn read_box(&self, bounds: &[Range<u64>], dest: &mut [u8]) -> Result<()> {
        self.array.read_box(bounds, dest)
    }

    fn compare_seals(&self) -> Result<()> {
        self.member.check(&*self.plain).map_err(of_member)
    }

    fn verify(&self, options: &VerifyOptions, progress: OnProgress<'_>) -> Result<Report> {
        let mut report = self.array.verify(options, progress)?;
        (report.checksum, report.nchunks, report.nsummed) = (Some(CHECKSUM), 1, 1);
        if let Err(error) = self.compare_seals() {
            add_fault(&mut report, error);
        }
        Ok(report)
    }
}
