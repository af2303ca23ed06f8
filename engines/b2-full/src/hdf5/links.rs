//! The links of a group, those among them that lead nowhere, and those that leave the file. The
//! reader lists neither.

use hdf5_reader::Hdf5File;
use hdf5_reader::btree_v1::collect_btree_v1_leaves_storage;
use hdf5_reader::btree_v2::{BTreeV2Header, BTreeV2Record, collect_btree_v2_records_storage};
use hdf5_reader::error::{Error, Result};
use hdf5_reader::fractal_heap::{FractalHeap, FractalHeapDirectBlockCache};
use hdf5_reader::group::Group;
use hdf5_reader::io::Cursor;
use hdf5_reader::local_heap::LocalHeap;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::link::{self, LinkMessage, LinkTarget};
use hdf5_reader::messages::link_info::LinkInfoMessage;
use hdf5_reader::messages::symbol_table_msg::SymbolTableMessage;
use hdf5_reader::symbol_table::SymbolTableNode;

/// The cache type of an entry that is a soft link.
const SOFT: u32 = 2;

/// All links of a group, in the order of the bytes of their names. Targets are not opened.
pub(super) fn of_group(file: &Hdf5File, group: &Group) -> Result<Vec<LinkMessage>> {
    let header = file.get_or_parse_header(group.address())?;
    let mut links = vec![];
    for message in &header.messages {
        match message {
            HdfMessage::SymbolTable(table) => links.extend(of_table(group, table)?),
            HdfMessage::Link(link) => links.push(link.clone()),
            HdfMessage::LinkInfo(info) => links.extend(of_heap(group, info)?),
            _ => {}
        }
    }
    links.sort_by(|a, b| a.name.cmp(&b.name));
    links.dedup_by(|a, b| a.name == b.name);
    Ok(links)
}

/// Whether a data set is at an address, and no group and no type.
pub(super) fn is_dataset(file: &Hdf5File, address: u64) -> bool {
    let is_of_dataset = |message: &HdfMessage| {
        matches!(message, HdfMessage::Dataspace(_) | HdfMessage::DataLayout(_))
    };
    file.get_or_parse_header(address).is_ok_and(|header| header.messages.iter().any(is_of_dataset))
}

/// The links of the older groups: a tree of nodes with entries, and their texts in a heap.
fn of_table(group: &Group, table: &SymbolTableMessage) -> Result<Vec<LinkMessage>> {
    let (storage, sizes) = (group.storage(), (group.offset_size(), group.length_size()));
    let heap = LocalHeap::parse_at_storage(storage, table.heap_address, sizes.0, sizes.1)?;
    let nodes = collect_btree_v1_leaves_storage(
        storage,
        table.btree_address,
        sizes.0,
        sizes.1,
        None,
        &[],
        None,
    )?;
    let mut texts = None;
    let mut links = vec![];
    for (_, address) in nodes {
        let head = storage.read_range(address, NODE_HEAD_NBYTES)?;
        let nentries = head.last_chunk::<2>().map_or(0, |count| u16::from_le_bytes(*count));
        let entry_nbytes = usize::from(sizes.0).saturating_mul(2).saturating_add(24);
        let nbytes = usize::from(nentries).saturating_mul(entry_nbytes);
        let node = storage.read_range(address, nbytes.saturating_add(NODE_HEAD_NBYTES))?;
        let node = SymbolTableNode::parse(&mut Cursor::new(&node), sizes.0, sizes.1)?;
        for entry in node.entries {
            if texts.is_none() {
                let len = usize::try_from(heap.data_segment_size).unwrap_or(usize::MAX);
                texts = Some(storage.read_range(heap.data_segment_address, len)?);
            }
            let texts = texts.as_deref().unwrap_or_default();
            let target = match (entry.cache_type, entry.scratch.first_chunk::<4>()) {
                (SOFT, Some(at)) => {
                    LinkTarget::Soft { path: text_at(texts, u32::from_le_bytes(*at).into())? }
                }
                _ => LinkTarget::Hard { address: entry.object_header_address },
            };
            let name = text_at(texts, entry.link_name_offset)?;
            links.push(LinkMessage { name, target, creation_order: None });
        }
    }
    Ok(links)
}

/// Bytes of a node before its entries; the last two of them count these.
const NODE_HEAD_NBYTES: usize = 8;

/// The text in a heap that ends with a zero.
fn text_at(texts: &[u8], at: u64) -> Result<String> {
    let rest = usize::try_from(at).ok().and_then(|at| texts.get(at..));
    let end = |rest: &[u8]| rest.iter().position(|byte| *byte == 0);
    let text = rest.and_then(|rest| rest.get(..end(rest)?));
    let text = text.and_then(|text| core::str::from_utf8(text).ok());
    text.map(str::to_owned).ok_or_else(|| Error::InvalidData("the name of a link".to_owned()))
}

/// The links of a large group, which are in a heap.
fn of_heap(group: &Group, info: &LinkInfoMessage) -> Result<Vec<LinkMessage>> {
    let (storage, sizes) = (group.storage(), (group.offset_size(), group.length_size()));
    if Cursor::is_undefined_offset(info.fractal_heap_address, sizes.0) {
        return Ok(vec![]);
    }
    let heap = FractalHeap::parse_at_storage(storage, info.fractal_heap_address, sizes.0, sizes.1)?;
    let tree = info.btree_name_index_address;
    let tree = BTreeV2Header::parse_at_storage(storage, tree, sizes.0, sizes.1)?;
    let records =
        collect_btree_v2_records_storage(storage, &tree, sizes.0, sizes.1, None, &[], None)?;
    let mut blocks = FractalHeapDirectBlockCache::default();
    let mut links = vec![];
    for record in &records {
        let BTreeV2Record::LinkNameHash { heap_id, .. } = record else { continue };
        let bytes =
            heap.get_object_storage_cached(heap_id, storage, sizes.0, sizes.1, &mut blocks)?;
        links.push(link::parse(&mut Cursor::new(&bytes), sizes.0, sizes.1, bytes.len())?);
    }
    Ok(links)
}
