//! Chunks without data: zeros, NaNs, a repeated value, and uninitialised data.

use blosc_chunk::{Special, special_chunk};

use super::{
    Bench, Call, Case, Result, Theirs, Verdict, check_ours, check_sizes, compare, decode, fail,
    written,
};
use crate::{failure::Context, interop::case::Draw};

/// C makes a chunk; `blosc-chunk` reads it.
pub(in crate::interop) fn read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let run = Run::draw(case);
    run.read(bench).at(format!("{run:?}"))
}

/// `blosc-chunk` makes a chunk; C reads it.
pub(in crate::interop) fn write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let run = Run::draw(case);
    run.write(bench).at(format!("{run:?}"))
}

/// The parameters of the chunk.
#[derive(Debug)]
struct Run {
    call: Call,
    name: &'static str,
    value: Vec<u8>,
}

impl Run {
    fn draw(case: &Case) -> Self {
        let mut call = Call::draw(case);
        let mut draw = Draw::new(case.recipe.seed.into(), "special", 0);
        let name = draw.pick(&["zeros", "nans", "repeatval", "repeatval", "uninit"]);
        (call.case.filters, call.shape, call.case.codec, call.codec_meta) = ([0; 6], vec![], 1, 0);
        call.target = blosc_chunk::Target::Blosc3_0;
        if name == "nans" && draw.chance(90) {
            call.case.typesize = draw.pick(&[4, 8]);
        }
        let typesize = call.case.typesize;
        if name == "zeros" && draw.chance(50) {
            call.case.recipe.nbytes = draw.any_size(17);
        } else {
            call.case.recipe.nbytes = draw.any_size(17) / typesize * typesize;
        }
        call.case.run = None;
        let nitems = call.case.recipe.nbytes / typesize;
        call.case.slices =
            (0..3).map_while(|_| crate::interop::case::slice(&mut draw, nitems)).collect();
        let value = (0..typesize).map(|_| u8::try_from(draw.within(0..256)).unwrap_or(0)).collect();
        Self { call, name, value }
    }

    fn special(&self) -> Special<'_> {
        match self.name {
            "zeros" => Special::Zeros,
            "nans" => Special::Nans,
            "uninit" => Special::Uninit,
            _ => Special::Value(&self.value),
        }
    }

    /// The data of the chunk.
    fn content(&self) -> Vec<u8> {
        let nbytes = self.call.case.recipe.nbytes;
        let item = match self.special() {
            Special::Nans if self.call.case.typesize == 4 => f32::NAN.to_le_bytes().to_vec(),
            Special::Nans => f64::NAN.to_le_bytes().to_vec(),
            Special::Value(value) => value.to_vec(),
            Special::Zeros | Special::Uninit => vec![0],
        };
        item.into_iter().cycle().take(nbytes).collect()
    }

    fn read(&self, bench: &mut Bench) -> Result<Verdict> {
        let mut request = self.call.json("c_special");
        request["special"] = self.name.into();
        request["nbytes"] = self.call.case.recipe.nbytes.into();
        let Some(chunk) = written(bench, request, &[&self.value])? else {
            return Ok(Verdict::Refused);
        };
        self.check(bench, &chunk)
    }

    fn write(&self, bench: &mut Bench) -> Result<Verdict> {
        let nbytes = self.call.case.recipe.nbytes;
        let Ok(chunk) = special_chunk(self.special(), nbytes, &self.call.params()) else {
            return Ok(Verdict::Refused);
        };
        match self.check(bench, &chunk)? {
            Verdict::Rescued | Verdict::Lost => fail("refused by the oracle"),
            verdict => Ok(verdict),
        }
    }

    fn check(&self, bench: &mut Bench, chunk: &[u8]) -> Result<Verdict> {
        let (content, found) = (self.content(), decode(&self.call, chunk));
        let theirs = Theirs::try_ask(bench, &self.call, chunk)?;
        let read = theirs.as_ref().and_then(|theirs| Some((theirs, theirs.content()?)));
        let found = match found {
            Err(_) if read.is_none() => return Ok(Verdict::Lost),
            found => found?,
        };
        compare("decoded", &content, &found)?;
        check_ours(&self.call, chunk, &found)?;
        let Some((theirs, read)) = read else { return Ok(Verdict::Rescued) };
        check_sizes(&blosc_chunk::Chunk::parse(chunk)?, theirs)?;
        if self.special() == Special::Uninit {
            // The data are arbitrary.
            return Ok(Verdict::Equal);
        }
        compare("read by the oracle", &content, read)?;
        theirs.check_parts(&self.call, chunk, &content)
    }
}
