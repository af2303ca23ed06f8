//! The operations of frames, in one file and in a directory.

use std::sync::Arc;

use b2frame::{Checksums, EditOptions, FrameParams, OpenOptions, SChunk, SChunkWriter};
use blosc_io::{
    MemStore, WriteAt,
    tree::{MemTree, Tree},
};

use super::{
    Content, Operation,
    disk::{FileDisk, TreeDisk},
};
use crate::{container::frames::verify_frame, failure::Result};

const CHUNKSIZE: usize = 1024;

/// The operations of frames of both kinds.
macro_rules! edits_of {
    ($open:expr, $container:literal, $make:expr, $read:expr) => {
        edits! {
            SChunkWriter, $open, $container, $make, $read, set_later;
            "append": |writer| writer.append(&data(5000, 7)),
            "append a little": |writer| writer.append(&data(4, 7)),
            "append zeros": |writer| writer.append(&[0; 8192]),
            "insert": |writer| writer.insert(1, &data(CHUNKSIZE, 8)),
            "update": |writer| writer.update(0, &data(CHUNKSIZE, 9)),
            "write": |writer| writer.write_bytes(1000, &data(1500, 10)),
            "delete": |writer| writer.delete(1),
            "reorder": |writer| writer.reorder(&[1, 0, 2]),
            "metalayer of equal length": |writer| writer.set_meta("m", b"new"),
            "vlmetalayer": |writer| writer.set_vlmeta("v", &data(3000, 11)),
            "no vlmetalayer": |writer| writer.delete_vlmeta("v").map(drop),
            "no seal": |writer| writer.set_seal(Checksums::None),
            "other sums": |writer| {
                writer.set_seal(Checksums::Body)?;
                writer.set_meta("m", b"new")
            },
            "several": |writer| several(writer),
        }
    };
}

pub(super) fn of_files() -> Vec<Operation<FileDisk>> {
    edits_of!(open_file, "frame", make_file, read_file)
}

pub(super) fn of_trees() -> Vec<Operation<TreeDisk>> {
    let mut all = edits_of!(open_tree, "sparse-frame", make_tree, read_tree);
    all.extend(edits! {
        SChunkWriter, open_tree, "sparse-frame", make_tree, read_tree, set_later;
        "longer metalayer": |writer| writer.set_meta("m", &[b'm'; 900]),
        "change and compact": |writer| {
            writer.update(0, &data(CHUNKSIZE, 9))?;
            writer.compact().map(drop)
        },
    });
    all
}

/// Changes a part that [`Content`] leaves out.
pub(super) fn set_later(writer: &mut SChunkWriter) -> b2frame::Result<()> {
    writer.set_vlmeta("later", b"x")
}

fn several(writer: &mut SChunkWriter) -> b2frame::Result<()> {
    writer.append(&data(3000, 7))?;
    writer.update(0, &data(CHUNKSIZE, 9))?;
    writer.delete(1)?;
    writer.set_meta("m", b"new")?;
    writer.set_vlmeta("v", b"new")
}

/// Bytes that do not compress.
pub(super) fn data(nbytes: usize, seed: u32) -> Vec<u8> {
    let mut draw = blosc_testdata::data::XorShift32::new(seed);
    (0..nbytes).map(|_| draw.next_hi().to_le_bytes()[0]).collect()
}

fn open_file(store: Box<dyn WriteAt>) -> b2frame::Result<SChunkWriter> {
    SChunkWriter::open_in(store, &EditOptions::default())
}

fn open_tree(tree: Arc<dyn Tree>) -> b2frame::Result<SChunkWriter> {
    SChunkWriter::open_in_tree(tree, &EditOptions::default())
}

fn params() -> FrameParams {
    FrameParams::default().chunksize(CHUNKSIZE).metalayer("m", *b"old").checksums(Checksums::Chunks)
}

/// Two chunks and a part of one, replaced chunks, and a vlmetalayer.
fn fill(writer: &mut SChunkWriter) -> b2frame::Result<()> {
    writer.append(&data(2500, 1))?;
    writer.commit()?;
    writer.append(&data(300, 2))?;
    writer.set_vlmeta("v", b"old")?;
    writer.commit()
}

fn make_file() -> Result<FileDisk> {
    let mut writer = SChunkWriter::in_memory(&params())?;
    fill(&mut writer)?;
    Ok(FileDisk::new(writer.finish()?.to_cframe()?))
}

fn make_tree() -> Result<TreeDisk> {
    let tree = Arc::new(MemTree::new());
    fill(&mut SChunkWriter::create_in_tree(tree.clone(), &params())?)?;
    Ok(TreeDisk::new(MemTree::clone(&tree)))
}

fn read_file(disk: &FileDisk) -> Result<Content> {
    content_of(&SChunk::from_store(Arc::new(MemStore::new(disk.bytes().to_vec())))?)
}

fn read_tree(disk: &TreeDisk) -> Result<Content> {
    content_of(&SChunk::from_tree(disk.tree(), &OpenOptions::default())?)
}

/// The content of a frame, if its sums are right.
pub(super) fn content_of(schunk: &SChunk) -> Result<Content> {
    verify_frame(schunk)?;
    let seal = schunk.seal_state()?;
    let mut data = vec![];
    for nchunk in 0..schunk.nchunks() {
        data.extend(schunk.decode_chunk(nchunk)?);
    }
    let meta: Vec<_> = schunk
        .meta()
        .iter()
        .map(|layer| (layer.name.escape_ascii().to_string(), layer.content.to_vec()))
        .collect();
    let vlmeta = schunk.vlmeta().get("v")?;
    let rest = format!("{meta:?} {vlmeta:?} {} {seal:?}", schunk.nchunks());
    Ok(Content { data, rest })
}
