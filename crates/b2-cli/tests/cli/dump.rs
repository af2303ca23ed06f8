//! `dump`: every byte of a file has a meaning.

use blosc_testdata::fixture::{Format, Manifest, path};

use crate::session::{Dir, snapshot, walk};

/// The spans of a document, as place and length.
fn spans(document: &[u8]) -> Vec<(u64, u64)> {
    let document: serde_json::Value = serde_json::from_slice(document).unwrap();
    assert_eq!(document["schema"], "b2.dump/1");
    assert_eq!(document["problems"], serde_json::json!([]));
    let number = |span: &serde_json::Value, key: &str| span[key].as_u64().unwrap();
    let spans = document["spans"].as_array().unwrap();
    spans.iter().map(|span| (number(span, "offset"), number(span, "len"))).collect()
}

#[test]
fn the_spans_of_every_fixture_cover_it_once() {
    let dir = Dir::new();
    let manifest = Manifest::load().unwrap();
    let formats = [Format::Cframe, Format::Blosc1Chunk, Format::Blosc2Chunk];
    for fixture in formats.into_iter().flat_map(|format| manifest.of(format)) {
        let file = fixture.path();
        let mut spans = spans(&dir.b2(&format!("dump --json {}", file.display())).ok().stdout);
        spans.sort_unstable();
        let mut end = 0;
        for (offset, len) in spans.into_iter().filter(|span| span.1 > 0) {
            assert_eq!(offset, end, "{}", fixture.file);
            end += len;
        }
        assert_eq!(end, file.metadata().unwrap().len(), "{}", fixture.file);
    }
}

#[test]
fn a_chunk_is_told_field_by_field() {
    let dir = Dir::new();
    dir.write("tiny.b2frame", std::fs::read(path("frames/tiny.b2frame")).unwrap());
    snapshot!(dir.b2("dump --chunk 2 tiny.b2frame"), @r"
    exit 0
    --- stdout
    tiny.b2frame: chunk 2, 52 bytes
    000000b0  05                    version = 5
    000000b1  01                    versionlz = 1
    000000b2  07                    flags = 32-byte header, memcpyed, format 0 (blosclz)
    000000b3  04                    typesize = 4
    000000b4  14000000              nbytes = 20
    000000b8  14000000              blocksize = 20
    000000bc  34000000              cbytes = 52
    000000c0  000000000001          filters = -, -, -, -, -, shuffle
    000000c6  01                    udcodec = lz4
    000000c7  00                    compcode_meta = 0
    000000c8  000000000000          filters_meta
    000000ce  00                    blosc2_flags2 = none
    000000cf  00                    blosc2_flags = none
    000000d0  000000000100000002..  data
    --- stderr
    ");
}

#[test]
fn runs_dictionaries_and_dead_bytes_are_shown() {
    let dir = Dir::new();
    let file = path("frames/hole-before-trailer.b2frame");
    std::fs::copy(file, dir.path("hole.b2frame")).unwrap();
    dir.write("w.i32", walk(20_000));
    dir.b2("c -q --dict --block-size 8K --format chunk w.i32").ok();
    let text = dir.b2("dump w.i32.chunk").ok().text().to_owned();
    assert!(text.contains("dictionary size = ") && text.contains("blosc2_flags = dictionary"), "{text}");
    let text = dir.b2("dump hole.b2frame").ok().text().to_owned();
    assert!(text.contains(": trailer, "), "{text}");
    dir.write("zeros", vec![0; 5000]).b2("c -q zeros").ok();
    let text = dir.b2("dump zeros.b2frame").ok().text().to_owned();
    assert!(text.contains("in the index, without bytes"), "{text}");
}

#[test]
fn damaged_files_are_shown_as_far_as_they_go() {
    let dir = Dir::new();
    let mut tiny = std::fs::read(path("frames/tiny.b2frame")).unwrap();
    dir.write("cut", &tiny[..200]);
    let run = dir.b2("dump cut");
    assert_eq!(run.code, Some(1));
    assert!(run.text().contains("frame_len = 369"), "{}", run.text());
    tiny[0x99 + 3] = 0x7f;
    dir.write("bad", &tiny);
    let run = dir.b2("dump bad");
    assert_eq!(run.code, Some(1));
    assert!(run.text().contains("problem   chunk at byte 117: block 0 at byte 36"), "{}", run.text());
    assert!(run.text().contains("trailer_len = 85"), "{}", run.text());
    let layers = [&tiny[..0x58], &[0; 4][..], &tiny[0x5c..]].concat();
    dir.write("layers", &layers);
    let run = dir.b2("dump --header layers");
    assert!(run.text().contains("not understood"), "{}", run.text());
    assert_eq!(dir.b2("dump --chunk 9 bad").code, Some(2));
}

#[test]
fn sparse_frames_have_their_chunks_elsewhere() {
    let dir = Dir::new();
    let sparse = path("frames/tiny-sparse.b2frame");
    let text = dir.b2(&format!("dump {}", sparse.display())).ok().text().to_owned();
    assert!(text.contains("frame_type = sparse") && text.contains("chunk 2, 52 bytes"), "{text}");
    assert!(!text.contains("dead"), "{text}");
    let tiny = path("frames/tiny.b2frame");
    let cat = |path: std::path::PathBuf| dir.b2(&format!("cat {}", path.display())).ok().stdout;
    assert_eq!(cat(sparse.clone()), cat(tiny));
    dir.b2(&format!("verify {}", sparse.display())).ok();
    dir.b2(&format!("d -o back {}", sparse.display())).ok();
    assert_eq!(dir.read("back").len(), 148);
    let found = dir.b2(&format!("info --json {}", sparse.display())).ok();
    assert!(found.text().contains(r#""format":"sframe""#) && found.text().contains(r#""file_bytes":369"#));
}
