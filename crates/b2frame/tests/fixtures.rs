//! Every frame of the manifest, written by python-blosc2: read from a file and from memory, whole
//! and in parts.

use b2frame::{Budget, Error, SChunk, report::VerifyOptions};
use blosc_testdata::fixture::{Format, Manifest};

#[test]
fn every_frame_of_the_manifest_decodes_to_what_its_writer_reads() {
    let mut count = 0;
    for fixture in Manifest::load().unwrap().list_format(Format::Cframe) {
        let file = &fixture.file;
        let schunk = SChunk::open(fixture.path()).unwrap_or_else(|error| panic!("{file}: {error}"));
        let content = decode(&schunk);
        assert!(fixture.holds(&content), "{file}");
        assert_eq!(
            decode(&SChunk::from_cframe(fixture.read().unwrap()).unwrap()),
            content,
            "{file}"
        );
        let part = content.len() / 3..content.len() / 2;
        let mut dest = vec![0; part.len()];
        schunk.read_bytes(part.start as u64, &mut dest).unwrap();
        assert_eq!(dest, content[part], "{file}");
        let report = schunk.verify(&VerifyOptions::default(), |_| {});
        assert!(report.is_ok(), "{file}: {report:?}");
        count += 1;
    }
    assert!(count > 90, "{count}");
}

fn decode(schunk: &SChunk) -> Vec<u8> {
    let mut content = Vec::new();
    let sink = |_, data: &[u8]| {
        content.extend_from_slice(data);
        Ok::<(), Error>(())
    };
    schunk.decode_ordered(0..schunk.nchunks(), &Budget::default(), sink).unwrap();
    content
}
