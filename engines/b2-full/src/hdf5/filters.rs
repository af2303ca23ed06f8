//! The filters of a data set, known before any chunk is read.

use std::io;

use hdf5_blosc::other;
use hdf5_reader::Dataset;
use hdf5_reader::group::Group;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::object_header::ObjectHeader;

use super::fault::{of_reader, unsupported};

/// Largest object header (bytes).
const MAX_HEADER_NBYTES: usize = 64 << 20;

/// The supported filters, and the names of others.
const FILTERS: [(u16, &str, bool); 14] = [
    (1, "deflate", true),
    (2, "shuffle", true),
    (3, "fletcher32", true),
    (4, "szip", true),
    (5, "nbit", true),
    (6, "scaleoffset", true),
    (hdf5_blosc::FILTER_BLOSC, "blosc", true),
    (hdf5_blosc::FILTER_BLOSC2, "blosc2", true),
    (307, "bzip2", false),
    (other::FILTER_LZF, "lzf", true),
    (other::FILTER_LZ4, "lz4", true),
    (other::FILTER_BITSHUFFLE, "bitshuffle", true),
    (other::FILTER_ZSTD, "zstd", true),
    (32013, "zfp", false),
];

/// The filters in the order of writing, for `info`.
///
/// # Errors
///
/// A filter that is not supported.
pub(super) fn pipeline(root: &Group, dataset: &Dataset) -> io::Result<String> {
    let header = ObjectHeader::parse_at_storage_with_limit(
        root.storage(),
        dataset.address(),
        root.offset_size(),
        root.length_size(),
        MAX_HEADER_NBYTES,
    );
    let messages = header.map_err(of_reader)?.messages;
    let filters = messages.iter().find_map(|message| match message {
        HdfMessage::FilterPipeline(pipeline) => Some(&pipeline.filters),
        _ => None,
    });
    let name = |id: u16| match FILTERS.iter().find(|(known, ..)| *known == id) {
        Some((_, name, true)) => Ok(*name),
        Some((_, name, false)) => {
            Err(unsupported(format!("the filter {name} ({id}), which is not read")))
        }
        None => Err(unsupported(format!("the filter {id}, which is not read"))),
    };
    let names = filters.into_iter().flatten().map(|filter| name(filter.id));
    Ok(names.collect::<io::Result<Vec<_>>>()?.join(" -> "))
}
