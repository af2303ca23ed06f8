//! Reports: statistics, differences, objects inside a file, and rescues.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use blosc_data::{
    Budget, Data, Error, Result,
    diff::{self, Tolerance},
    open,
    rescue::{self, Caller, Damaged, Options, Output, Remains},
    scan::{Found, ScanOptions, scan},
    stats::{self, StatsOptions},
};
use blosc_io::MemStore;

use crate::reads::samples;

/// Larger arrays would take too long.
const MAX_NBYTES: u64 = 4 << 20;

#[test]
fn an_array_is_equal_to_itself_and_its_ends_are_around_its_mean() {
    let budget = Budget::default().max_memory(1 << 20);
    let options = StatsOptions::default().histogram(Some(4)).budget(budget.clone());
    let mut count = 0;
    for found in samples() {
        let Data::Array(array) = &found.data else { continue };
        let is_read = array.nbytes() < MAX_NBYTES && array.to_bytes(..).is_ok();
        if !is_read || array.dtype().itemsize() == 0 {
            continue;
        }
        let mut seen = 0;
        let columns = stats::of_array(&**array, &options, &mut |more| seen += more).unwrap();
        assert_eq!(seen % array.nbytes().max(1), 0, "{}", found.name);
        for column in columns {
            let (counts, total) = (&column.counts, array.nitems());
            assert!(counts.zeros <= array.nbytes() && counts.nulls.is_none(), "{}", found.name);
            let counted = counts.histogram.as_ref().map(|it| it.counts.iter().sum::<u64>());
            assert!(counted.is_none_or(|counted| counted <= array.nbytes() && total > 0));
        }
        let none = Tolerance::default();
        let same = diff::of_arrays(&**array, &**array, none, &budget, &mut |_| ()).unwrap();
        let Some(same) = same else { continue };
        assert_eq!((same.different, same.surplus, same.items), (0, 0, array.nitems()));
        count += 1;
    }
    assert!(count > 50, "{count}");
}

#[test]
fn an_observer_of_pieces_finds_what_one_look_finds() {
    let text = |columns: &[stats::ColumnStats]| format!("{columns:?}");
    let (mut arrays, mut tables) = (0, 0);
    for found in samples() {
        match &found.data {
            Data::Array(array) if array.nbytes() < MAX_NBYTES => {
                let size = array.dtype().itemsize();
                let Ok(bytes) = array.to_bytes(..) else { continue };
                if size == 0 || bytes.is_empty() {
                    continue;
                }
                let whole = stats::of_array(&**array, &StatsOptions::default(), &mut |_| ());
                let mut observer = stats::Observer::of_items(array.dtype()).unwrap();
                bytes.chunks(size * 1024).for_each(|piece| observer.look_at_items(piece));
                // Repeated runs change the last digits of means.
                let ends = |columns: &[stats::ColumnStats]| {
                    let ends = |it: &stats::ColumnStats| (it.min.clone(), it.max.clone());
                    let counts = |it: &stats::ColumnStats| (it.counts.nan, it.counts.zeros);
                    columns.iter().map(|it| (ends(it), counts(it))).collect::<Vec<_>>()
                };
                assert_eq!(ends(&observer.report()), ends(&whole.unwrap()), "{}", found.name);
                arrays += 1;
            }
            Data::Table(table) => {
                let whole = stats::of_table(&**table, &StatsOptions::default(), &mut |_| ());
                let Ok(whole) = whole else { continue };
                let mut observer = stats::Observer::of_columns(table.columns());
                for start in (0..table.nrows()).step_by(1 << 14) {
                    let rows = start..table.nrows().min(start + (1 << 14));
                    observer.look_at_rows(&table.read(&[], rows).unwrap());
                }
                assert_eq!(text(&observer.report()), text(&whole), "{}", found.name);
                tables += 1;
            }
            _ => {}
        }
    }
    assert!(arrays > 50 && tables > 10, "{arrays} {tables}");
}

#[test]
fn columns_of_tables_have_nulls_apart() {
    let mut count = 0;
    for found in samples() {
        let Data::Table(table) = &found.data else { continue };
        let Ok(columns) = stats::of_table(&**table, &StatsOptions::default(), &mut |_| ()) else {
            continue;
        };
        assert_eq!(columns.len(), table.columns().len());
        for (column, described) in columns.iter().zip(table.columns()) {
            assert_eq!(column.name.as_ref(), Some(&described.name));
            assert!(column.counts.nulls.is_some_and(|nulls| nulls <= table.nrows()));
        }
        count += 1;
    }
    assert!(count > 10, "{count}");
}

fn frame() -> (Vec<u8>, Vec<u8>) {
    let data: Vec<u8> = (0..200_000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
    let params = b2frame::FrameParams::default().chunksize(100_000);
    let frame = b2frame::to_cframe(&data, &params).unwrap();
    (data, frame)
}

#[test]
fn objects_between_other_bytes_are_found_where_they_are() {
    let (data, frame) = frame();
    let chunk = blosc_chunk::compress(&data, &blosc_chunk::CParams::default()).unwrap();
    let file = [&[1; 77][..], &frame, &[9; 13], &chunk, b"end"].concat();
    let found = |options: &ScanOptions| {
        let mut found: Vec<Found> = vec![];
        let keep = &mut |object| {
            found.push(object);
            Ok::<(), Error>(())
        };
        scan(Arc::new(MemStore::new(file.clone())), options, keep).unwrap();
        found.into_iter().map(|it| (it.offset, it.cbytes, it.format)).collect::<Vec<_>>()
    };
    let (nframe, nchunk) = (frame.len() as u64, chunk.len() as u64);
    let expected = [(77, nframe, "b2frame"), (77 + nframe + 13, nchunk, "chunk")];
    assert_eq!(found(&ScanOptions::default()), expected);
    assert_eq!(found(&ScanOptions::default().frames_only(true)), expected[..1]);
}

/// Writes one output of at most a number of bytes.
struct To(PathBuf, u64);

impl Caller for To {
    type Error = Error;

    fn admit(&mut self, nbytes: u64, _: u64) -> Result<()> {
        let limit = self.1;
        if nbytes > limit { Err(Error::MaxMemory { needed: nbytes, limit }) } else { Ok(()) }
    }

    fn output(&mut self, _: Output) -> Result<PathBuf> {
        Ok(self.0.clone())
    }
}

fn saved(damaged: &Path, target: &Path) -> rescue::Report {
    let budget = Budget::default().max_memory(64 << 20);
    let options = Options::default().budget(budget);
    rescue::rescue(damaged, None, &options, &mut To(target.to_owned(), u64::MAX)).unwrap()
}

#[test]
fn a_frame_without_its_end_keeps_the_chunks_that_are_there() {
    let (data, mut frame) = frame();
    frame.truncate(frame.len() * 2 / 3);
    let dir = tempfile::tempdir().unwrap();
    let (damaged, target) = (dir.path().join("damaged.b2frame"), dir.path().join("new.b2frame"));
    std::fs::write(&damaged, &frame).unwrap();
    assert_eq!(rescue::remains(&damaged, None).unwrap(), Remains::Frame);
    let report = saved(&damaged, &target);
    let chunks = report.chunks.unwrap();
    assert!(!report.complete && chunks.good + chunks.doubtful > 2, "{report:?}");
    let bytes = open(&target).unwrap().into_bytes().unwrap();
    let mut start = [0; 100_000];
    bytes.read_at(0, &mut start).unwrap();
    assert_eq!(start[..], data[..100_000]);
    // A caller with a lower limit gets its own error.
    let options = Options::default().budget(Budget::default().max_memory(64 << 20));
    let other = dir.path().join("other.b2frame");
    let refused = rescue::rescue(&damaged, None, &options, &mut To(other.clone(), 10));
    assert!(matches!(refused, Err(Error::MaxMemory { limit: 10, .. })) && !other.exists());
}

#[test]
fn a_chunk_and_a_bloscpack_file_without_their_ends_keep_their_starts() {
    let (data, _) = frame();
    let params = blosc_chunk::CParams::default().typesize(4).blocksize(Some(16_000));
    let mut chunk = blosc_chunk::compress(&data, &params).unwrap();
    chunk.truncate(chunk.len() / 2);
    let mut blp =
        bloscpack::pack(&data, bloscpack::WriteOptions::default().chunksize(100_000)).unwrap();
    blp.truncate(blp.len() / 2);
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes, remains) in
        [("a.chunk", &chunk, Remains::Chunk), ("a.blp", &blp, Remains::Blp)]
    {
        let (damaged, target) = (dir.path().join(name), dir.path().join(format!("new-{name}")));
        std::fs::write(&damaged, bytes).unwrap();
        assert_eq!(rescue::remains(&damaged, None).unwrap(), remains);
        let report = saved(&damaged, &target);
        assert!(!report.complete && report.nbytes > 0, "{name}: {report:?}");
        let mut start = [0; 16_000];
        let found = open(&target).unwrap();
        found.into_bytes().unwrap().read_at(0, &mut start).unwrap();
        assert_eq!(start[..], data[..16_000], "{name}");
        // Without an output, the data before the damage are the same.
        let store = Arc::new(MemStore::new(bytes.clone()));
        let place = Damaged { store, at: 0, folder: None };
        let options = Options::default().budget(Budget::default().max_memory(64 << 20));
        let mut before = vec![];
        let admit = &mut |_, _| Ok::<(), Error>(());
        rescue::before_damage(&place, &options, u64::MAX, admit, &mut |piece| {
            before.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        assert!(before.len() >= 16_000 && data.starts_with(&before), "{name}");
    }
}

#[test]
fn chunks_of_a_sound_frame_are_all_good() {
    let (_, frame) = frame();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.b2frame");
    std::fs::write(&path, &frame).unwrap();
    let options = Options::default().budget(Budget::default().max_memory(64 << 20));
    let counts = rescue::readable_chunks(&path, 0, &options, u64::MAX).unwrap();
    assert_eq!((counts.good, counts.doubtful, counts.lost), (8, 0, 0));
}
