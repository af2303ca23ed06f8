//! Stores: a tree of arrays and a table, in an archive, in a directory, in one frame.

use std::sync::Arc;

use b2frame::{
    Checksums, FrameParams, NdParams,
    rescue::{ChunkState, RescueOptions},
};
use b2store::{
    ColumnKind, ColumnValues, Content, NewColumn, OpenOptions, Store, StoreWriter, WriteOptions,
    rescue::Salvage,
};
use blosc_io::tree::MemTree;

use super::{
    Files, Rescued, Sample, StoredChunk, budget, data, find,
    frames::{
        array, chunks_of_file, open_options, read_array, read_frame, rescue_file, verify_frame,
    },
    parts_of_frame, stored_chunks,
};
use crate::failure::{Context, Result, fail};

/// The most values and rows to read.
const MAX_NVALUES: usize = 20;

pub(super) fn samples(is_sealed: bool) -> Result<Vec<Sample>> {
    // The values of an embed store are in the chunks of another frame, which has no seal.
    let names: &[&str] = if is_sealed { &["x.b2z", "x.b2d"] } else { &["x.b2z", "x.b2d", "x.b2e"] };
    names.iter().map(|name| sample(name, is_sealed)).collect()
}

fn sample(name: &'static str, is_sealed: bool) -> Result<Sample> {
    let checksums = if is_sealed { Checksums::Chunks } else { Checksums::None };
    let params = NdParams::new(&[16, 16], "<i4".parse()?);
    let params = params.chunkshape(&[8, 16]).blockshape(&[4, 4]);
    let array = array(&params, &data(16 * 16 * 4, 8), checksums)?;
    let params = FrameParams::default().chunksize(1024).checksums(checksums);
    let frame = b2frame::to_cframe(&data(3000, 9), &params)?;
    let tree = Arc::new(MemTree::new());
    let mut writer = StoreWriter::create_in(tree.clone(), name, &WriteOptions::default())?;
    writer.insert_cframe("/group/array", array.clone())?;
    writer.insert_cframe("/bytes", frame.clone())?;
    if !name.ends_with('e') {
        add_table(&mut writer)?;
    }
    writer.commit()?;
    let files = Files::from_tree(&*tree, if name.ends_with('d') { name } else { "" })?;
    let mut covered = vec![];
    for frame in [&array, &frame].into_iter().filter(|_| is_sealed) {
        for (nfile, (_, bytes)) in files.0.iter().enumerate() {
            let place = find(bytes, frame).ok();
            covered.extend(place.into_iter().flat_map(|place| parts_of_frame(nfile, place)));
        }
    }
    let container = name.trim_start_matches("x.");
    let is_embed = name.ends_with('e');
    // An embed store is a frame, and its values cross the chunk limits.
    let chunks = match is_embed {
        true => chunks_of_file(files.bytes())?,
        false => [chunks_in(&files, &array)?, chunks_in(&files, &frame)?].concat(),
    };
    let rescue: fn(&Files) -> Result<Rescued> = if is_embed { rescue_file } else { rescue };
    let rescue = Some(rescue);
    Ok(Sample { container, is_sealed, files, chunks, covered, verify, read, rescue })
}

/// The values that are arrays of bytes, and their numbers of chunks.
const VALUES: [(&str, usize); 2] = [("/group/array", 2), ("/bytes", 3)];

/// The chunks of a frame that is somewhere in the files.
fn chunks_in(files: &Files, frame: &[u8]) -> Result<Vec<StoredChunk>> {
    let mut places = files.0.iter().map(|(_, bytes)| find(bytes, frame)).enumerate();
    let Some((nfile, place)) = places.find_map(|(nfile, place)| Some((nfile, place.ok()?))) else {
        return fail("the frame of a value is in no file");
    };
    stored_chunks::of_frame_at(files, nfile, place)
}

/// Whether it is an archive, and neither a directory nor an embed store.
fn is_archive(files: &Files) -> bool {
    matches!(files.0.as_slice(), [(name, _)] if !name.starts_with("embed"))
}

fn rescue(files: &Files) -> Result<Rescued> {
    let rescue = RescueOptions::default().budget(budget());
    let saved = match is_archive(files) {
        true => Salvage::from_store(Arc::new(files.store()), &options(), &rescue)?,
        false => Salvage::from_tree(files.tree()?, &options(), &rescue)?,
    };
    let mut all = vec![];
    for (key, nchunks) in VALUES {
        let value = saved.values.iter().find(|value| value.key == key);
        let schunk = saved.schunk(key, &open_options()).transpose()?;
        for nchunk in 0..nchunks {
            let state = value.and_then(|value| value.chunks.get(nchunk));
            let is_there = state.is_some_and(|state| *state != ChunkState::Lost);
            let schunk = schunk.as_ref().filter(|_| is_there);
            all.push(schunk.map(|schunk| schunk.decode_chunk(nchunk as u64)).transpose()?);
        }
    }
    Ok(all)
}

fn add_table(writer: &mut StoreWriter) -> Result<()> {
    let id = NewColumn::new("id", ColumnKind::Fixed("i8"));
    let name = NewColumn::new("name", ColumnKind::Utf8);
    let ids = ColumnValues::fixed("<i8".parse()?, data(100 * 8, 10));
    let words: Vec<String> = (0..100).map(|n| format!("word {n}")).collect();
    let words = ColumnValues::text(words.iter().map(String::as_str));
    Ok(writer.insert_table("/table", &[id, name], &[ids, words])?)
}

fn options() -> OpenOptions {
    let options = OpenOptions::default().max_files(1000).max_embedded(1000);
    options.frame(open_options()).budget(budget())
}

fn open(files: &Files) -> Result<Store> {
    let options = options();
    Ok(match is_archive(files) {
        true => Store::from_store(Arc::new(files.store()), &options)?,
        false => Store::from_tree(files.tree()?, &options)?,
    })
}

fn verify(files: &Files) -> Result<()> {
    let store = open(files)?;
    let _ = (store.tree(), store.registry());
    for key in store.keys().take(MAX_NVALUES) {
        store.attributes(key)?;
        // The frame comes first: its error names the chunk, the archive's only the member.
        verify_frame(&store.frame(key)?).at(key)?;
        store.check_crc(key)?;
        store.get(key)?;
    }
    for key in store.tables().take(3) {
        let table = store.table(key)?;
        table.len()?;
        for spec in table.schema().columns.iter().take(MAX_NVALUES) {
            table.column(&spec.name)?;
        }
    }
    // Reading the rows checks them.
    read(files)
}

fn read(files: &Files) -> Result<()> {
    let store = open(files)?;
    for key in store.keys().take(MAX_NVALUES) {
        match store.get(key)? {
            Content::Array(array) => read_array(&array)?,
            _ => read_frame(&store.frame(key)?)?,
        }
    }
    for key in store.tables().take(3) {
        let table = store.table(key)?;
        let rows = 0..table.len()?.min(1000);
        for spec in table.schema().columns.iter().take(MAX_NVALUES) {
            let column = table.column(&spec.name)?;
            if column.rowsize().is_none_or(|rowsize| rowsize <= 64) {
                column.read(rows.clone())?;
            }
        }
    }
    Ok(())
}
