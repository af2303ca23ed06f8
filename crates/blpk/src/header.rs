//! Headers in the format of Bloscpack 0.16.0: a name, then a line for each field, with its value in
//! Python notation.

use bloscpack::{Header, PackedChunk, Version, metadata::MetadataHeader};

use crate::{pretty, python};

/// The header of a file. Fields that old versions lack are omitted.
pub(crate) fn text(header: &Header) -> String {
    let size = |size: Option<u32>| size.map_or("-1".to_owned(), |size| pretty::double(size.into()));
    let mut block = Block::new("BloscpackHeader:");
    block.field("format_version", header.version().number());
    if header.version() != Version::V1 && header.version() != Version::Rc {
        block.field("offsets", boolean(header.has_offsets()));
        block.field("metadata", boolean(header.has_metadata()));
        block.field("checksum", python::str_repr(header.checksum().name()));
        block.field("typesize", header.typesize().unwrap_or(0));
        block.field("chunk_size", size(header.chunksize()));
        block.field("last_chunk", size(header.last_chunk()));
    }
    block.field("nchunks", header.nchunks().map_or("-1".to_owned(), |nchunks| nchunks.to_string()));
    if header.version() == Version::V3 {
        block.field("max_app_chunks", header.max_app_chunks());
    }
    block.text
}

/// The header of the metadata.
pub(crate) fn metadata(header: &MetadataHeader) -> String {
    let size = |size: u32| pretty::double(size.into());
    let user_codec = header.user_codec();
    let end = user_codec.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let mut block = Block::new("MetadataHeader:");
    block.field("magic_format", python::bytes_repr(header.format_name()));
    block.field("meta_options", "'00000000'");
    block.field("meta_checksum", python::str_repr(header.checksum().name()));
    block.field("meta_codec", python::str_repr(header.codec().name()));
    block.field("meta_level", header.clevel());
    block.field("meta_size", size(header.meta_size()));
    block.field("max_meta_size", size(header.max_meta_size()));
    block.field("meta_comp_size", size(header.meta_comp_size()));
    block.field("user_codec", python::bytes_repr(&user_codec[..end]));
    block.text
}

/// The header of a chunk, and its flags. `lz4hc` is `lz4` here, as in the flags; and `split_blocks`
/// shows the flag that means that blocks are *not* split.
pub(crate) fn chunk(chunk: &PackedChunk) -> String {
    let header = chunk.header();
    let (codec_version, flags) = (chunk.bytes().get(1), chunk.bytes().get(2));
    let flags = flags.copied().unwrap_or(0);
    let mut block = Block::new("First chunk blosc header:");
    block.field("version", header.version());
    block.field("versionlz", codec_version.copied().unwrap_or(0));
    block.field("flags", flags);
    block.field("typesize", header.typesize());
    block.field("nbytes", header.nbytes());
    block.field("blocksize", header.blocksize());
    block.field("ctbytes", header.cbytes());
    block.headline("First chunk blosc flags: ");
    block.field("byte_shuffle", boolean(flags & 1 != 0));
    block.field("pure_memcpy", boolean(flags & 2 != 0));
    block.field("bit_shuffle", boolean(flags & 4 != 0));
    block.field("split_blocks", boolean(flags & 16 != 0));
    let codec = ["blosclz", "lz4", "snappy", "zlib", "zstd"].get(usize::from(flags >> 5));
    block.field("codec", python::str_repr(codec.copied().unwrap_or("unknown")));
    block.text
}

fn boolean(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

struct Block {
    text: String,
}

impl Block {
    fn new(headline: &str) -> Self {
        Self { text: format!("{headline}\n") }
    }

    fn headline(&mut self, headline: &str) {
        self.text += &format!("{headline}\n");
    }

    fn field(&mut self, name: &str, value: impl ToString) {
        self.text += &format!("    {name}: {}\n", value.to_string());
    }
}
