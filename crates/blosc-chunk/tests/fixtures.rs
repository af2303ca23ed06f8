//! Every chunk of the manifest, written by the original programs: whole, with threads, in parts.

use core::num::NonZeroUsize;

use blosc_chunk::{Chunk, DParams, Decoder, Scratch, Threads};
use blosc_testdata::fixture::{Format, Manifest};

#[test]
fn every_chunk_of_the_manifest_decodes_to_what_its_writer_reads() {
    let manifest = Manifest::load().unwrap();
    let chunks = manifest.of(Format::Blosc1Chunk).chain(manifest.of(Format::Blosc2Chunk));
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
