//! Arrays in memory: written and read whole, and slices.
//!
//! Slices are read from the same frame, which this workspace wrote; C-Blosc2 checks it by reading
//! it back. Whole arrays are also read and written by two threads.

use core::num::NonZeroUsize;

use b2frame::{
    Budget, EditOptions, NdArray, NdParams, NdWriter,
    nd::{Pick, Selection},
};
use blosc_chunk::{CParams, CodecId, Level, Pipeline, Threads};
use blosc_io::MemStore;
use blosc_testdata::data::XorShift32;

use super::{Bench, Subject, frames::PARAMS};
use crate::{
    c_blosc2::{Grid, Params},
    failure::{Result, fail},
};

/// An array: name, set, shape, chunks and blocks.
struct Case {
    name: &'static str,
    set: &'static str,
    grid: Grid,
    /// Whether the array is measured only as a whole, with LZ4.
    is_large: bool,
}

fn cases(is_quick: bool) -> Vec<Case> {
    // 16 or 64 MiB.
    let n = if is_quick { 1 } else { 4 };
    let case = |name, set, dtype, shape: &[i64], chunks: &[i32], blocks: &[i32]| {
        let (shape, chunks, blocks) = (shape.to_vec(), chunks.to_vec(), blocks.to_vec());
        Case { name, set, grid: Grid { shape, chunks, blocks, dtype }, is_large: false }
    };
    // 128 or 512 MB: the goals were set with these.
    let n_large = if is_quick { 1000 } else { 2000 };
    let large = [n_large, n_large, 16];
    vec![
        Case {
            is_large: true,
            ..case("3-d large", "f64_linspace", c"<f8", &large, &[250, 250, 16], &[50, 50, 16])
        },
        case("2-d", "f32_field", c"<f4", &[1024 * n, 4096], &[256, 1024], &[32, 512]),
        case("3-d", "f64_linspace", c"<f8", &[64 * n, 128, 256], &[32, 64, 64], &[8, 32, 32]),
        // No size is a multiple of another.
        case("3-d uneven", "i32_walk", c"<i4", &[61 * n, 250, 259], &[23, 70, 71], &[7, 33, 20]),
    ]
}

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    for case in cases(bench.quick) {
        let settings = [("lz4 shuffle", 1, 5), ("zstd shuffle", 5, 1)];
        for (name, codec, level) in settings.into_iter().take(if case.is_large { 1 } else { 2 }) {
            let set = bench.set(case.set)?;
            let params = Params { codec, level, typesize: set.typesize, ..PARAMS };
            let nitems = usize::try_from(case.grid.shape.iter().product::<i64>())?;
            let plain: Vec<u8> =
                set.bytes.iter().copied().cycle().take(nitems * set.typesize).collect();
            let one = Work { case: &case, setting: name, params, plain: &plain };
            if case.is_large {
                one.whole(bench)?;
            } else {
                one.all(bench)?;
            }
            let params = Params { threads: 2, ..params };
            Work { case: &case, setting: name, params, plain: &plain }.whole(bench)?;
        }
    }
    Ok(())
}

/// Boxes that are written in one call.
const BOXES: usize = 16;

struct Work<'a> {
    case: &'a Case,
    setting: &'static str,
    params: Params,
    plain: &'a [u8],
}

impl Work<'_> {
    fn all(&self, bench: &mut Bench) -> Result<()> {
        let frame = self.whole(bench)?;
        let [first, last, cube] = match self.case.grid.shape[..] {
            [a, b] => [vec![1, b], vec![a, 1], vec![b / 10, b / 10]],
            [a, b, c] => [vec![1, b, c], vec![a, b, 1], vec![a / 3, b / 3, c / 3]],
            _ => return fail("neither 2 nor 3 dimensions"),
        };
        let item = vec![1; self.case.grid.shape.len()];
        for (what, lens) in [
            ("first index", first),
            ("last index", last),
            ("box", cube.clone()),
            ("one item", item),
        ] {
            self.slices(bench, what, &lens, &frame)?;
        }
        self.write_box(bench, &cube, &frame)
    }

    fn subject(&self, what: &'static str, nbytes: usize) -> Subject {
        let subject = Subject::new("arrays", what, self.setting, self.case.name);
        subject.threads(self.params.threads).nbytes(nbytes)
    }

    fn nd_params(&self) -> Result<NdParams> {
        let grid = &self.case.grid;
        let unsigned = |lens: &[i32]| lens.iter().map(|len| len.unsigned_abs()).collect::<Vec<_>>();
        let shape: Vec<u64> = grid.shape.iter().map(|len| len.unsigned_abs()).collect();
        let cparams = CParams::default()
            .codec(CodecId(self.params.codec))
            .clevel(Level::try_from(self.params.level)?)
            .typesize(self.params.typesize)
            .filters(Pipeline::SHUFFLE);
        Ok(NdParams::new(&shape, grid.dtype.to_str()?.parse()?)
            .chunkshape(&unsigned(&grid.chunks))
            .blockshape(&unsigned(&grid.blocks))
            .cparams(cparams))
    }

    /// Writes and reads the whole array. Returns this workspace's frame.
    fn whole(&self, bench: &mut Bench) -> Result<Vec<u8>> {
        let (params, c, options) = (self.nd_params()?, bench.c.clone(), self.read_options());
        let write = || -> Result<NdArray> {
            let mut writer = NdWriter::in_memory(&params)?.budget(options.clone());
            writer.write_bytes(.., self.plain)?;
            Ok(writer.finish()?)
        };
        let frame = write()?.schunk().to_cframe()?;
        let mut theirs = c.array(&self.case.grid, &self.params, self.plain)?;
        let (mut dest, mut c_dest) = (vec![0; self.plain.len()], vec![0; self.plain.len()]);
        theirs.read(&mut c_dest)?;
        let mut same = c_dest == self.plain;
        c.array_of(&frame)?.read(&mut c_dest)?;
        same &= c_dest == self.plain;
        if !same {
            return fail(format!("arrays: {}: other items come back", self.case.name));
        }
        bench.measure(
            self.subject("write all", self.plain.len()),
            &mut || write().map(drop),
            &mut || c.array(&self.case.grid, &self.params, self.plain).map(drop),
        )?;
        let array = NdArray::from_cframe(frame.clone())?.budget(options.clone());
        if self.params.threads == 1 {
            // With several threads, C-Blosc2 reads only arrays that it made with them.
            theirs = c.array_of(&frame)?;
        }
        bench.measure(
            self.subject("read all", self.plain.len()),
            &mut || Ok(array.read_bytes(.., &mut dest)?),
            &mut || theirs.read(&mut c_dest),
        )?;
        if dest == self.plain { Ok(frame) } else { fail("arrays: we read other items") }
    }

    /// Boxes of these lengths at random positions.
    fn slices(
        &self,
        bench: &mut Bench,
        what: &'static str,
        lens: &[i64],
        frame: &[u8],
    ) -> Result<()> {
        let array = NdArray::from_cframe(frame.to_vec())?.budget(self.read_options());
        let mut theirs = bench.c.array_of(frame)?;
        let nbytes = self.nbytes(lens)?;
        let (mut dest, mut c_dest) = (vec![0; nbytes], vec![0; nbytes]);
        let (mut rng, mut c_rng) = (XorShift32::default(), XorShift32::default());
        let ours = |dest: &mut [u8], rng: &mut XorShift32| -> Result<()> {
            let (start, stop) = self.place(lens, rng);
            Ok(array.read_bytes(selection(&start, &stop), dest)?)
        };
        let mut c = |dest: &mut [u8], rng: &mut XorShift32| {
            let (start, stop) = self.place(lens, rng);
            theirs.read_slice(&start, &stop, dest)
        };
        for _ in 0..3 {
            ours(&mut dest, &mut rng)?;
            c(&mut c_dest, &mut c_rng)?;
            if dest != c_dest {
                return fail(format!("arrays: {what}: not the same items"));
            }
        }
        bench.measure(self.subject(what, nbytes), &mut || ours(&mut dest, &mut rng), &mut || {
            c(&mut c_dest, &mut c_rng)
        })
    }

    /// Writes boxes at random positions, [`BOXES`] in each call: one box takes twice as long as
    /// another if it cuts twice as many chunks, and the first boxes after opening need new memory.
    fn write_box(&self, bench: &mut Bench, lens: &[i64], frame: &[u8]) -> Result<()> {
        let mut writer = NdWriter::open_in(
            Box::new(MemStore::new(frame.to_vec())),
            &EditOptions::default().cparams(self.nd_params()?.cparams),
        )?
        .budget(self.read_options());
        let mut theirs = bench.c.array(&self.case.grid, &self.params, self.plain)?;
        let items = &self.plain[..self.nbytes(lens)?];
        let (mut rng, mut c_rng) = (XorShift32::default(), XorShift32::default());
        bench.measure(
            self.subject("write box", BOXES * items.len()),
            &mut || {
                (0..BOXES).try_for_each(|_| {
                    let (start, stop) = self.place(lens, &mut rng);
                    Ok(writer.write_bytes(selection(&start, &stop), items)?)
                })
            },
            &mut || {
                (0..BOXES).try_for_each(|_| {
                    let (start, stop) = self.place(lens, &mut c_rng);
                    theirs.write_slice(&start, &stop, items)
                })
            },
        )
    }

    fn read_options(&self) -> Budget {
        let threads = NonZeroUsize::new(self.params.threads.into());
        Budget::default().threads(threads.map_or(Threads::One, Threads::N))
    }

    fn nbytes(&self, lens: &[i64]) -> Result<usize> {
        Ok(usize::try_from(lens.iter().product::<i64>())? * self.params.typesize)
    }

    /// Start and stop of a box inside of the array.
    fn place(&self, lens: &[i64], rng: &mut XorShift32) -> (Vec<i64>, Vec<i64>) {
        let room =
            self.case.grid.shape.iter().zip(lens).map(|(all, len)| (all - len + 1).unsigned_abs());
        let start: Vec<i64> = room.map(|room| rng.below(room).cast_signed()).collect();
        let stop = start.iter().zip(lens).map(|(start, len)| start + len).collect();
        (start, stop)
    }
}

fn selection(start: &[i64], stop: &[i64]) -> Selection {
    let picks = start.iter().zip(stop).map(|(start, stop)| Pick::from(*start..*stop));
    picks.collect::<Vec<_>>().into()
}
