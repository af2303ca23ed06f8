//! An array of the numbers from 0 on, in chunks of ten.

use std::sync::Arc;

use bcolz_store::tree::MemTree;
use bcolz_store::{CArray, CArrayWriter, CreateOptions, Dtype, OpenOptions};

pub(crate) fn array(len: u8) -> Arc<MemTree> {
    let tree = Arc::new(MemTree::new());
    let dflt = bcolz_store::Json::Int(-1);
    let options =
        CreateOptions::new(Dtype::parse("int8").unwrap()).chunklen(Some(10)).dflt(Some(dflt));
    let mut writer = CArrayWriter::create_in(tree.clone(), "a", &options).unwrap();
    writer.append(&(0..len).collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap();
    tree
}

pub(crate) fn rows(tree: &Arc<MemTree>) -> Vec<i8> {
    let array = CArray::open_in(tree.clone(), "a", &OpenOptions::default()).unwrap();
    array.read_as(0..array.len()).unwrap()
}
