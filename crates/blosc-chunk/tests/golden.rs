//! Chunks with known content: made by hand for one rule each, or written by C-Blosc and C-Blosc2,
//! which read the same content.

use crate::text;

use core::num::NonZeroUsize;

use blosc_chunk::{
    Chunk, ChunkHeader, DParams, Decoder, Error, Limits, Registries, Scratch, Threads, decompress,
    error::Blame,
};
use blosc_testdata::{
    conformance::{Kind, cases},
    fixture::{Format, Manifest},
    sha256_hex,
};

use text::{hex, lines};

#[test]
fn chunks_of_the_conformance_suite_are_accepted_or_refused_as_documented() {
    let mut count = 0;
    for case in cases().unwrap().into_iter().filter(|case| case.format == "chunk") {
        let (id, chunk) = (&case.id, std::fs::read(case.path()).unwrap());
        let limits = Limits::none().max_nbytes(1 << 20);
        let result = Decoder::new(DParams::default().limits(limits)).decode(&chunk);
        count += 1;
        match (case.kind, result) {
            (Kind::Valid, data) => {
                let wanted = case.data.unwrap();
                assert_eq!(Some(sha256_hex(&data.expect(id))), wanted.sha256, "{id}");
            }
            (Kind::Invalid, error) => {
                let is_unknown = case.error.unwrap().class == "unknown";
                let blame = if is_unknown { Blame::NotOurs } else { Blame::Data };
                let error = error.expect_err(id);
                let is_large = matches!(error, Error::Limit { .. });
                assert!(is_large || error.blame() == blame, "{id}: {error:?}");
            }
            (Kind::Undefined, _) => {}
        }
    }
    assert!(count > 400, "{count}");
}

#[test]
fn chunks_of_c_blosc_and_c_blosc2_decode_whole_and_in_parts() {
    let mut data = std::collections::HashMap::new();
    let mut count = 0;
    for line in lines("chunks/vectors.txt") {
        let fields: Vec<&str> = line.splitn(4, ' ').collect();
        if fields[0] == "data" {
            data.insert(fields[1].to_owned(), hex(fields[2]));
            continue;
        }
        let (plain, bytes) = (&data[fields[1]], hex(fields[2]));
        count += 1;
        let codec = ChunkHeader::parse(&bytes).unwrap().codec_id();
        if Registries::default().codecs.get(codec).is_none() {
            // This build lacks the feature of this codec.
            assert_eq!(decompress(&bytes).unwrap_err().blame(), Blame::NotOurs, "{line}");
            continue;
        }
        assert_eq!(Decoder::default().decode(&bytes).as_ref(), Ok(plain), "{line}");
        check_parts(&Chunk::parse(&bytes).unwrap(), plain);
    }
    assert_eq!(count, 54);
}

fn check_parts(chunk: &Chunk<'_>, plain: &[u8]) {
    let mut scratch = Scratch::default();
    for start in (0..plain.len()).step_by(97) {
        for len in [0, 1, 5, 130, 700] {
            let end = (start + len).min(plain.len());
            let mut part = vec![0xaa; end - start];
            chunk.read_bytes(start..end, &mut part, &mut scratch).unwrap();
            assert_eq!(part, plain[start..end]);
        }
    }
}

#[test]
fn every_chunk_of_the_manifest_decodes_to_its_digest() {
    let manifest = Manifest::load().unwrap();
    let chunks =
        manifest.list_format(Format::Blosc1Chunk).chain(manifest.list_format(Format::Blosc2Chunk));
    let mut serial = Decoder::new(DParams::default());
    let mut parallel =
        Decoder::new(DParams::default().threads(Threads::N(NonZeroUsize::new(3).unwrap())));
    let mut scratch = Scratch::new(&DParams::default());
    let mut count = 0;
    for fixture in chunks {
        let bytes = fixture.read().unwrap();
        let content =
            serial.decode(&bytes).unwrap_or_else(|error| panic!("{}: {error}", fixture.file));
        assert!(fixture.holds(&content), "{}", fixture.file);
        assert_eq!(parallel.decode(&bytes).as_ref(), Ok(&content), "{}", fixture.file);
        let part = content.len() / 3..content.len() / 2;
        let mut dest = vec![0; part.len()];
        Chunk::parse(&bytes).unwrap().read_bytes(part.clone(), &mut dest, &mut scratch).unwrap();
        assert_eq!(dest, content[part], "{}", fixture.file);
        count += 1;
    }
    assert!(count > 60, "{count}");
}
