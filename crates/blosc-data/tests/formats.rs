//! Files of other programs, compared with the content that they decode.

use b2frame::ChunkBytes;
use blosc_chunk::decompress;
use blosc_data::{Budget, Data, open};
use blosc_testdata::{
    fixture::{Format, Manifest},
    sha256_hex,
};

#[test]
fn fixtures_of_the_manifest_have_the_content_that_their_programs_decode() {
    let manifest = Manifest::load().unwrap();
    let mut count = 0;
    for fixture in &manifest.fixtures {
        let found =
            open(fixture.path()).unwrap_or_else(|error| panic!("{}: {error:?}", fixture.file));
        let mut content = vec![];
        let mut sink = |piece: &[u8]| {
            content.extend_from_slice(piece);
            Ok(())
        };
        let budget = Budget::default();
        match &found.data {
            Data::Bytes(bytes) => bytes.stream(0..bytes.nbytes(), &budget, &mut sink).unwrap(),
            // The digests of the manifest include the padding of chunks.
            Data::Array(array) => {
                let chunks = array.chunks().unwrap();
                for nchunk in 0..chunks.nchunks() {
                    match chunks.chunk(nchunk).unwrap() {
                        ChunkBytes::Stored(chunk) => sink(&decompress(&chunk).unwrap()).unwrap(),
                        other => panic!("{}: {other:?}", fixture.file),
                    }
                }
            }
            other => panic!("{}: {}", fixture.file, other.kind_name()),
        }
        let is_frame = fixture.format == Format::Cframe;
        assert_eq!(is_frame, found.format == blosc_data::Format::Frame, "{}", fixture.file);
        assert!(fixture.holds(&content), "{}: {}", fixture.file, sha256_hex(&content));
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_file_of_parquet_opens_as_a_table() {
    let file = blosc_testdata::fixture::path("parquet/pyarrow.parquet");
    let found = open(&file).unwrap();
    assert_eq!(found.format, blosc_data::Format::Parquet);
    let table = found.into_table().unwrap();
    assert_eq!(table.format(), "parquet");
    assert!(table.nrows() > 0 && !table.columns().is_empty());
    let name = table.columns()[0].name.clone();
    assert_eq!(table.read(&[&name], 0..1).unwrap()[0].len(), 1);
}
