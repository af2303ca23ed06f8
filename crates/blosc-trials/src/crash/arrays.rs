//! The operations of arrays of C-Blosc2, in one file and in a directory.

use std::sync::Arc;

use b2frame::{
    Checksums, EditOptions, NdArray, NdParams, NdWriter, OpenOptions, SChunk, SChunkWriter,
    nd::Selection,
};
use blosc_io::{
    MemStore, WriteAt,
    tree::{MemTree, Tree},
};

use super::{
    Content, Operation,
    disk::{FileDisk, TreeDisk},
    frames::{content_of, data, set_later},
};
use crate::failure::Result;

macro_rules! edits_of {
    ($open:expr, $container:literal, $make:expr, $read:expr) => {
        edits! {
            NdWriter, $open, $container, $make, $read, |array| set_later(array.schunk_writer());
            "write": |array| array.write_bytes(Selection::ALL, &data(24 * 24 * 4, 7)),
            "grow": |array| array.resize(&[40, 30]),
            "shrink": |array| array.resize(&[10, 9]),
            "append": |array| array.append_bytes(0, &data(24 * 8 * 4, 8)),
            "insert": |array| array.insert_bytes(1, 8, &data(24 * 8 * 4, 9)),
            "delete": |array| array.delete(0, 8, 8),
            "grow and write": |array| {
                array.resize(&[30, 24])?;
                array.write_bytes(Selection::ALL, &data(30 * 24 * 4, 10))
            },
        }
    };
}

pub(super) fn of_files() -> Vec<Operation<FileDisk>> {
    edits_of!(open_file, "b2nd", make_file, read_file)
}

pub(super) fn of_trees() -> Vec<Operation<TreeDisk>> {
    edits_of!(open_tree, "sparse-b2nd", make_tree, read_tree)
}

fn open_file(store: Box<dyn WriteAt>) -> b2frame::Result<NdWriter> {
    NdWriter::open_in(store, &EditOptions::default())
}

fn open_tree(tree: Arc<dyn Tree>) -> b2frame::Result<NdWriter> {
    NdWriter::from_writer(SChunkWriter::open_in_tree(tree, &EditOptions::default())?)
}

fn sealed_array() -> Result<NdArray> {
    let params = NdParams::new(&[24, 24], "<i4".parse()?);
    let params = params.chunkshape(&[8, 8]).blockshape(&[4, 4]);
    let mut writer = NdWriter::in_memory(&params)?;
    writer.write_bytes(Selection::ALL, &data(24 * 24 * 4, 1))?;
    writer.schunk_writer().set_seal(Checksums::Chunks)?;
    Ok(writer.finish()?)
}

fn make_file() -> Result<FileDisk> {
    Ok(FileDisk::new(sealed_array()?.schunk().to_cframe()?))
}

fn make_tree() -> Result<TreeDisk> {
    let (array, tree) = (sealed_array()?, Arc::new(MemTree::new()));
    let frame = array.schunk();
    let params = b2frame::FrameParams::new(frame.cparams())
        .chunksize(8 * 8 * 4)
        .checksums(Checksums::Chunks)
        .metalayer("b2nd", array.meta().encode());
    let mut writer = SChunkWriter::create_in_tree(tree.clone(), &params)?;
    writer.append_chunks(frame)?;
    writer.commit()?;
    drop(writer);
    Ok(TreeDisk::new(MemTree::clone(&tree)))
}

fn read_file(disk: &FileDisk) -> Result<Content> {
    array_content(SChunk::from_store(Arc::new(MemStore::new(disk.bytes().to_vec())))?)
}

fn read_tree(disk: &TreeDisk) -> Result<Content> {
    array_content(SChunk::from_tree(disk.tree(), &OpenOptions::default())?)
}

fn array_content(schunk: SChunk) -> Result<Content> {
    content_of(&schunk)?;
    let array = NdArray::from_schunk(schunk)?;
    let data = array.to_bytes(Selection::ALL)?;
    Ok(Content { data, rest: format!("{:?}", array.shape()) })
}
