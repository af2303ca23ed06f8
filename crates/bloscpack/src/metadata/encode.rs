//! From a value to the metadata section.

use std::io::{self, Write};

use miniz_oxide::deflate::compress_to_vec_zlib;
use serde_json::Value;

use super::header::MAX_LEVEL;
use super::{Metadata, MetadataCodec, MetadataHeader};
use crate::{Checksum, Param, Result, json};

blosc_chunk::setters! {
    /// Options for storing metadata. The default is that of Bloscpack 0.16.0: Adler-32, zlib at
    /// level 6, tenfold room.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct MetadataOptions {
        /// The checksum.
        pub checksum: Checksum,
        /// The codec; it is dropped if it would make the text longer.
        pub codec: MetadataCodec,
        /// The compression level, 0 to 9.
        pub clevel: u8,
        /// The room to reserve.
        pub room: Room,
    }
}

impl Default for MetadataOptions {
    fn default() -> Self {
        Self {
            checksum: Checksum::Adler32,
            codec: MetadataCodec::Zlib,
            clevel: 6,
            room: Room::Times(10),
        }
    }
}

/// Room to reserve for metadata, so that longer ones can replace them later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// A multiple of the length of the uncompressed text.
    Times(u32),
    /// A number of bytes.
    Bytes(u32),
    /// As much as the data need.
    Exact,
}

/// A metadata section that is ready to be written.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) header: MetadataHeader,
    data: Vec<u8>,
}

impl Section {
    /// A new section; `None` for `null`, which stands for no metadata.
    pub(crate) fn new(value: &Value, options: &MetadataOptions) -> Result<Option<Self>> {
        if value.is_null() {
            return Ok(None);
        }
        let text = json::to_text(value);
        let room = |data: usize| match options.room {
            Room::Times(factor) => (text.len() as u64).saturating_mul(factor.into()),
            Room::Bytes(bytes) => bytes.into(),
            Room::Exact => data as u64,
        };
        Self::with_room(&text, options, room).map(Some)
    }

    /// New metadata for an existing section: same room, same length of digest. As in
    /// Bloscpack 0.16.0, zlib at level 6 is tried even if the old metadata were stored differently.
    pub(crate) fn replacing(
        old: &Metadata,
        value: &Value,
        checksum: Option<Checksum>,
    ) -> Result<Self> {
        let (old, new) = (*old.header(), checksum.unwrap_or(old.header().checksum));
        if old.checksum.digest_len() != new.digest_len() {
            return Err(Param::ChecksumLength { old: old.checksum, new }.into());
        }
        let options = MetadataOptions::default().checksum(new);
        let section =
            Self::with_room(&json::to_text(value), &options, |_| old.max_meta_size.into())?;
        let header = MetadataHeader { user_codec: old.user_codec, ..section.header };
        Ok(Self { header, ..section })
    }

    /// The same metadata of any format for another file, with the same room.
    pub(crate) fn keeping(old: &Metadata) -> Result<Self> {
        let header = *old.header();
        let options = MetadataOptions::default()
            .checksum(header.checksum)
            .codec(header.codec)
            .clevel(header.clevel);
        let room = |data: usize| (data as u64).max(header.max_meta_size.into());
        let section = Self::with_room(old.text(), &options, room)?;
        let MetadataHeader { magic_format, user_codec, .. } = header;
        Ok(Self {
            header: MetadataHeader { magic_format, user_codec, ..section.header },
            ..section
        })
    }

    fn with_room(
        text: &[u8],
        options: &MetadataOptions,
        room: impl Fn(usize) -> u64,
    ) -> Result<Self> {
        let clevel = options.clevel;
        if clevel > MAX_LEVEL {
            return Err(Param::MetadataLevel { clevel }.into());
        }
        let (codec, data) = deflate(text, options.codec, clevel);
        let (len, room) = (data.len() as u64, room(data.len()));
        if len > room {
            return Err(Param::MetadataRoom { len, room }.into());
        }
        let header = MetadataHeader {
            magic_format: MetadataHeader::JSON,
            checksum: options.checksum,
            codec,
            clevel,
            meta_size: size(text.len() as u64)?,
            max_meta_size: size(room)?,
            meta_comp_size: size(len)?,
            user_codec: [0; 8],
        };
        Ok(Self { header, data })
    }

    /// Length of the section (bytes).
    pub(crate) fn len(&self) -> u64 {
        self.header.section_len()
    }

    pub(crate) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&self.header.to_bytes())?;
        to.write_all(&self.data)?;
        io::copy(&mut io::Read::take(io::repeat(0), self.header.zeros()), to)?;
        to.write_all(self.header.checksum.digest(&self.data).as_bytes())
    }
}

/// The compressed text, unless it is strictly longer.
fn deflate(text: &[u8], codec: MetadataCodec, clevel: u8) -> (MetadataCodec, Vec<u8>) {
    if codec == MetadataCodec::Zlib {
        let packed = compress_to_vec_zlib(text, clevel);
        if packed.len() <= text.len() {
            return (codec, packed);
        }
    }
    (MetadataCodec::None, text.to_vec())
}

fn size(len: u64) -> Result<u32, Param> {
    u32::try_from(len).map_err(|_| Param::MetadataSize { len })
}
