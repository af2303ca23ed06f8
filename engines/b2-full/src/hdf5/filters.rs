//! The filters of a data set, and files outside with its items, which are known before any item is
//! read.

use std::io;

use hdf5_blosc::other;
use hdf5_reader::Dataset;
use hdf5_reader::error::Error;
use hdf5_reader::group::Group;
use hdf5_reader::local_heap::LocalHeap;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::external_files::ExternalFilesMessage;
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
/// A filter that is not supported; items in other files, which could be any file.
pub(super) fn pipeline(root: &Group, dataset: &Dataset) -> io::Result<String> {
    let header = ObjectHeader::parse_at_storage_with_limit(
        root.storage(),
        dataset.address(),
        root.offset_size(),
        root.length_size(),
        MAX_HEADER_NBYTES,
    );
    let messages = header.map_err(of_reader)?.messages;
    let outside = messages.iter().find_map(|message| match message {
        HdfMessage::ExternalFiles(files) => Some(files),
        _ => None,
    });
    if let Some(files) = outside {
        let names = names_of(root, files).map_err(of_reader)?.join(", ");
        return Err(unsupported(format!("items in other files ({names}), which are not opened")));
    }
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

/// The names of files with items, of which the first ones are enough.
fn names_of(root: &Group, files: &ExternalFilesMessage) -> Result<Vec<String>, Error> {
    let (storage, sizes) = (root.storage(), (root.offset_size(), root.length_size()));
    let heap = LocalHeap::parse_at_storage(storage, files.heap_address, sizes.0, sizes.1)?;
    let slots = files.slots.iter().take(MAX_NAMES);
    slots.map(|slot| heap.get_string_storage(slot.name_offset, storage)).collect()
}

/// Files with items that a message names.
const MAX_NAMES: usize = 3;
