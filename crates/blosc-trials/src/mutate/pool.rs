//! Sound chunks to start from: the fixtures, and one chunk for each codec, filter and kind that
//! `blosc-chunk` writes.

use std::fs;

use blosc_chunk::{
    CParams, CodecId, Dict, Encoder, Level, Pipeline, Special, SplitMode, Target, special_chunk,
};
use blosc_testdata::data::{Kind, Recipe};

use crate::failure::{Context, Result};

/// The chunks.
pub(super) struct Pool(Vec<Vec<u8>>);

/// The shape of a block (items), for codecs and filters that need one.
pub(super) const SHAPE: [u32; 2] = [12, 10];

const CODECS: [CodecId; 6] =
    [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::LZ4HC, CodecId::ZLIB, CodecId::ZSTD, CodecId::SNAPPY];
const FILTERS: [&str; 8] = [
    "none",
    "shuffle",
    "bitshuffle",
    "delta",
    "delta,shuffle",
    "trunc:12,shuffle",
    "shuffle,bytedelta:4",
    "delta,shuffle:3,bitshuffle",
];

impl Pool {
    pub(super) fn load() -> Result<Self> {
        let mut pool = Self(Vec::new());
        pool.add_fixtures()?;
        pool.add_codecs()?;
        pool.add_arrays()?;
        pool.add_kinds()?;
        Ok(pool)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, index: usize) -> &[u8] {
        &self.0[index % self.0.len()]
    }

    /// Adds fixtures: binary files, and text files with a chunk in hexadecimal digits per line.
    fn add_fixtures(&mut self) -> Result<()> {
        let folder = blosc_testdata::fixture::path("chunks");
        let generated = folder.join("generated");
        let mut paths: Vec<_> = fs::read_dir(&generated)
            .at(generated.display())?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<std::io::Result<_>>()?;
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "chunk")) {
            self.0.push(fs::read(path).at(path.display())?);
        }
        for (name, field) in [("odd.txt", 1), ("vectors.txt", 2)] {
            let path = folder.join(name);
            let text = fs::read_to_string(&path).at(path.display())?;
            let chunks = text.lines().filter(|line| !line.starts_with("data"));
            self.0.extend(chunks.filter_map(|line| hex(line.split(' ').nth(field)?)));
        }
        Ok(())
    }

    fn add_codecs(&mut self) -> Result<()> {
        let data = Recipe { kind: Kind::Mixed, typesize: 4, seed: 7, nbytes: 1500 }.bytes();
        for (i, codec) in CODECS.into_iter().enumerate() {
            for (j, filters) in FILTERS.into_iter().enumerate() {
                let params =
                    CParams::default().codec(codec).typesize(4).filters(Pipeline::parse(filters)?);
                let split =
                    if (i + j).is_multiple_of(2) { SplitMode::Always } else { SplitMode::Never };
                let blosc2 =
                    params.clone().target(Target::Blosc3_0).split(split).blocksize(Some(400));
                self.add(blosc2, &data)?;
                self.add(params.target(Target::Blosc1_14), &data)?;
            }
        }
        Ok(())
    }

    fn add_arrays(&mut self) -> Result<()> {
        let floats = Recipe { kind: Kind::Linspace, typesize: 4, seed: 7, nbytes: 960 }.bytes();
        let none = CParams::default().typesize(4).filters(Pipeline::EMPTY);
        let none = none.blocksize(Some(480)).blockshape(Some(SHAPE.as_slice().into()));
        for (codec, meta) in [(33, 253), (34, 12), (35, 40)] {
            self.add(none.clone().codec(CodecId(codec)).codec_meta(meta), &floats)?;
        }
        for filters in ["ndcell:4", "ndmean:4,shuffle"] {
            self.add(none.clone().codec(CodecId::LZ4).filters(Pipeline::parse(filters)?), &floats)?;
        }
        let shuffle = none.codec(CodecId::NDLZ).filters(Pipeline::SHUFFLE).split(SplitMode::Always);
        for side in [4, 8] {
            self.add(shuffle.clone().codec_meta(side), &floats)?;
        }
        Ok(())
    }

    /// Adds chunks with dictionaries, VL-blocks, runs, copies.
    fn add_kinds(&mut self) -> Result<()> {
        let text = Recipe { kind: Kind::Text, typesize: 1, seed: 7, nbytes: 6000 }.bytes();
        let new = CParams::default().typesize(1).target(Target::Blosc3_0).filters(Pipeline::EMPTY);
        for codec in [CodecId::LZ4, CodecId::LZ4HC, CodecId::ZSTD] {
            let dict =
                new.clone().codec(codec).dict(Dict::Train { max: 512 }).blocksize(Some(1000));
            self.add(dict.clone(), &text)?;
            let pieces: Vec<&[u8]> = text.chunks(700).collect();
            self.0.push(Encoder::new(dict)?.encode_vl(&pieces)?);
        }
        for codec in [CodecId::BLOSCLZ, CodecId::ZLIB] {
            self.0.push(Encoder::new(new.clone().codec(codec))?.encode_vl(&[
                &text[..300],
                b"x",
                &[0; 99],
            ])?);
        }
        let delta = new.clone().typesize(4).filters(Pipeline::parse("delta,shuffle")?);
        self.0.push(Encoder::new(delta)?.encode_vl(&[&text[..300], &text[..41]])?);
        let params = CParams::default().typesize(4).target(Target::Blosc3_0);
        for special in [Special::Zeros, Special::Nans, Special::Value(b"abcd"), Special::Uninit] {
            self.0.push(special_chunk(special, 4000, &params)?);
        }
        self.add(params.clone().clevel(Level::NONE), &text[..200])?;
        self.add(params, &[])
    }

    /// Adds the chunk, unless its target does not support the filters or the codec.
    fn add(&mut self, params: CParams, data: &[u8]) -> Result<()> {
        if params.check().is_ok() {
            self.0.push(Encoder::new(params)?.encode(data)?);
        }
        Ok(())
    }
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(byte).collect()
}
