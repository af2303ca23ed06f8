//! `dump`: every byte of a file belongs to one span.

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
    for fixture in formats.into_iter().flat_map(|format| manifest.list_format(format)) {
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
fn the_spans_of_bloscpack_files_cover_them_once() {
    let samples =
        std::fs::read_dir(path("bloscpack")).unwrap().map(|sample| sample.unwrap().path());
    let mut n = 0;
    for file in samples.filter(|file| file.extension().is_some_and(|extension| extension == "blp"))
    {
        let name = file.file_name().unwrap().to_owned();
        if name == "synth_v3_aborted.blp" {
            continue;
        }
        let mut end = 0;
        for (offset, len) in
            spans(&Dir::new().b2(&format!("dump --json {}", file.display())).ok().stdout)
        {
            assert_eq!(offset, end, "{name:?}");
            end += len;
        }
        assert_eq!(end, file.metadata().unwrap().len(), "{name:?}");
        n += 1;
    }
    assert!(n > 70);
}

#[test]
fn fields_of_a_bloscpack_file_are_printed() {
    let dir = Dir::new();
    std::fs::copy(path("bloscpack/real_np_struct.blp"), dir.path("x.blp")).unwrap();
    snapshot!(dir.b2("dump x.blp"), @r#"
    exit 0
    --- stdout
    x.blp: header, 32 bytes
    00000000  626c706b              magic = blpk
    00000004  03                    format_version = 3
    00000005  03                    options = offsets, metadata
    00000006  01                    checksum = adler32
    00000007  0f                    typesize = 15
    00000008  1e000000              chunk_size = 30
    0000000c  1e000000              last_chunk = 30
    00000010  0100000000000000      nchunks = 1
    00000018  0a00000000000000      max_app_chunks = 10
    x.blp: metadata, 1016 bytes
    00000020  4a534f4e00000000      magic_format = JSON\x00\x00\x00\x00
    00000028  00                    meta_options = 0
    00000029  01                    meta_checksum = adler32
    0000002a  01                    meta_codec = zlib
    0000002b  06                    meta_level = 6
    0000002c  62000000              meta_size = 98
    00000030  d4030000              max_meta_size = 980
    00000034  59000000              meta_comp_size = 89
    00000038  0000000000000000      user_codec
    00000040  789cab564a29a92c48..  data = {"dtype":"[('a', '<i4'), ('b', '<f8'), ('c', '|S3')]","shape":[2],"order":"C","container":"numpy"}
    00000099  000000000000000000..  room
    00000414  fe23c9b2              adler32
    x.blp: offsets, 88 bytes: 1 in use, 10 free
    00000418  7004000000000000      offset 0 = 1136
    00000420  ffffffffffffffffff..  free
    x.blp: chunk 0, 46 bytes
    00000470  02                    version = 2
    00000471  01                    versionlz = 1
    00000472  13                    flags = 16-byte header, memcpyed, not split, shuffle, format 0 (blosclz)
    00000473  0f                    typesize = 15
    00000474  1e000000              nbytes = 30
    00000478  1e000000              blocksize = 30
    0000047c  2e000000              cbytes = 46
    00000480  010000000000000000..  data
    0000049e  8d025127              adler32 = 2751028d
    --- stderr
    "#);
    snapshot!(dir.b2("dump --index x.blp"), @"
    exit 0
    --- stdout
    x.blp: offsets, 88 bytes: 1 in use, 10 free
    00000418  7004000000000000      offset 0 = 1136
    00000420  ffffffffffffffffff..  free
    --- stderr
    ");
    std::fs::copy(path("bloscpack/real_append_reserve_used_up.blp"), dir.path("y.blp")).unwrap();
    snapshot!(dir.b2("dump --chunk 1 y.blp"), @"
    exit 0
    --- stdout
    y.blp: chunk 1, 27 bytes
    00000097  02                    version = 2
    00000098  01                    versionlz = 1
    00000099  13                    flags = 16-byte header, memcpyed, not split, shuffle, format 0 (blosclz)
    0000009a  08                    typesize = 8
    0000009b  0b000000              nbytes = 11
    0000009f  08000000              blocksize = 8
    000000a3  1b000000              cbytes = 27
    000000a7  68656c6c6f20776f72..  data
    000000b2  a9043020              adler32 = 203004a9
    --- stderr
    ");
    assert_eq!(dir.b2("dump --chunk 1 x.blp").code, Some(2));
    std::fs::copy(path("bloscpack/old_v1.blp"), dir.path("old.blp")).unwrap();
    snapshot!(dir.b2("dump --header old.blp"), @"
    exit 0
    --- stdout
    old.blp: header, 16 bytes
    00000000  626c706b              magic = blpk
    00000004  01                    format_version = 1
    00000005  000000                reserved
    00000008  0300000000000000      nchunks = 3
    --- stderr
    ");
}

#[test]
fn damaged_bloscpack_files_are_shown_as_far_as_they_go() {
    let dir = Dir::new();
    for name in ["flipped_data_bit", "nchunks_huge", "version_4"] {
        std::fs::copy(path(format!("bloscpack/malformed/{name}.blp")), dir.path(name)).unwrap();
    }
    let flipped = dir.b2("dump flipped_data_bit");
    assert_eq!(flipped.code, Some(1));
    let wrong = "problem   at byte 80: chunk 0 does not have the adler32 digest that is stored";
    assert!(flipped.text().contains(wrong), "{}", flipped.text());
    assert!(flipped.text().contains(": chunk 2, "), "{}", flipped.text());
    snapshot!(dir.b2("dump --header nchunks_huge"), @"
    exit 1
    --- stdout
    nchunks_huge: header, 32 bytes
    00000000  626c706b              magic = blpk
    00000004  03                    format_version = 3
    00000005  01                    options = offsets
    00000006  01                    checksum = adler32
    00000007  08                    typesize = 8
    00000008  00080000              chunk_size = 2048
    0000000c  70070000              last_chunk = 1904
    00000010  0000000000000040      nchunks = 4611686018427387904
    00000018  0300000000000000      max_app_chunks = 3
    --- stderr
    b2: nchunks_huge: at byte 32: offsets of 18446744073709551615 bytes, 1600 are left
    ");
    snapshot!(dir.b2("dump version_4"), @"
    exit 4
    --- stdout
    version_4: header, 32 bytes
    00000000  626c706b              magic = blpk
    00000004  04                    format_version = 4
    00000005  01                    options = offsets
    00000006  01                    checksum = adler32
    00000007  08                    typesize = 8
    00000008  00080000              chunk_size = 2048
    0000000c  70070000              last_chunk = 1904
    00000010  0300000000000000      nchunks = 3
    00000018  0300000000000000      max_app_chunks = 3
    version_4: offsets, 48 bytes: 3 in use, 3 free
    00000020  5000000000000000      offset 0 = 80
    00000028  ba02000000000000      offset 1 = 698
    00000030  ac04000000000000      offset 2 = 1196
    00000038  ffffffffffffffffff..  free
    --- stderr
    b2: version_4: format version 4, known are 1 to 3
    ");
    for sample in std::fs::read_dir(path("bloscpack/malformed")).unwrap() {
        let file = sample.unwrap().path();
        let run = dir.b2(&format!("dump {}", file.display()));
        assert!(matches!(run.code, Some(0 | 1 | 4 | 5)), "{file:?}: {}", run.all());
    }
    // Bytes that cannot be a chunk are skipped if the offsets give the position of the next one.
    let mut bytes = std::fs::read(path("bloscpack/real_append_reserve_used_up.blp")).unwrap();
    let found = dir.write("y.blp", &bytes).b2("dump --index y.blp").ok().text().to_owned();
    let offset = found
        .split("offset 1 = ")
        .nth(1)
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .parse::<usize>()
        .unwrap();
    bytes[offset] = 0x7f;
    dir.write("y.blp", &bytes);
    let run = dir.b2("dump --chunks y.blp");
    assert_eq!(run.code, Some(1));
    assert!(
        run.text().contains("not understood") && run.text().contains(": chunk 2, "),
        "{}",
        run.text()
    );
}

#[test]
fn journal_of_an_interrupted_change_is_named() {
    use bloscpack::Checksum::Crc32;
    let dir = Dir::new();
    let sound = std::fs::read(path("bloscpack/real_append_reserve_used_up.blp")).unwrap();
    // The header of an interrupted change was overwritten, and some data were written.
    let entries = [&0_u64.to_le_bytes()[..], &32_u64.to_le_bytes(), &sound[..32]].concat();
    let len = sound.len() as u64;
    let mut footer = b"blpkundo".to_vec();
    footer.extend([len + 100, len, 1].into_iter().flat_map(u64::to_le_bytes));
    footer.extend_from_slice(Crc32.digest(&entries).as_bytes());
    let crc = Crc32.digest(&footer);
    footer.extend_from_slice(crc.as_bytes());
    let file = [b"blpk\x03", &[0xee; 27][..], &sound[32..], &[7; 100], &entries, &footer].concat();
    dir.write("x.blp", &file);
    let text = dir.b2("dump x.blp").ok().text().to_owned();
    assert!(text.contains("magic = blpk\n"), "{text}");
    let (_, left) = text.split_once("x.blp: interrupted").unwrap();
    insta::assert_snapshot!(left, @"
     change, 188 bytes
    000001cd  070707070707070707..  new data
    00000231  0000000000000000      at = 0
    00000239  2000000000000000      len = 32
    00000241  626c706b030101080b..  former bytes
    00000261  626c706b756e646f      magic = blpkundo
    00000269  3102000000000000      start = 561
    00000271  cd01000000000000      len_before = 461
    00000279  0100000000000000      nentries = 1
    00000281  2c2a9f94              crc_entries = 2493458988
    00000285  6822db0a              crc_footer = 182133352
    ");
    let spans = spans(&dir.b2("dump --json x.blp").ok().stdout);
    assert_eq!(spans.iter().map(|span| span.1).sum::<u64>(), file.len() as u64);
}

#[test]
fn fields_of_a_chunk_are_printed() {
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
    assert!(
        text.contains("dictionary size = ") && text.contains("blosc2_flags = dictionary"),
        "{text}"
    );
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
    assert!(
        run.text().contains("problem   chunk at byte 117: block 0 at byte 36"),
        "{}",
        run.text()
    );
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
    assert!(
        found.text().contains(r#""format":"sframe""#)
            && found.text().contains(r#""file_bytes":369"#)
    );
}
