//! Bare chunks: written for any reader, and read from every writer.

use std::fs;

use blosc_testdata::{
    conformance::{Case, Kind, cases},
    fixture::{Format, Manifest, path},
    sha256_hex,
};

use crate::session::{Dir, snapshot, walk};

#[test]
fn every_fixture_verifies_and_decodes() {
    let dir = Dir::new();
    let manifest = Manifest::load().unwrap();
    let fixtures =
        manifest.list_format(Format::Blosc1Chunk).chain(manifest.list_format(Format::Blosc2Chunk));
    let mut nfiles = 0;
    for fixture in fixtures {
        let file = fixture.path().display().to_string();
        let found: serde_json::Value =
            serde_json::from_slice(&dir.b2(&format!("info --json -vv {file}")).ok().stdout)
                .unwrap();
        assert_eq!(
            (&found["format"], &found["nbytes"]),
            (&"chunk".into(), &fixture.nbytes.into()),
            "{file}"
        );
        let blocks = found["blocks"].as_array().unwrap();
        let nbytes: u64 = blocks.iter().map(|block| block["nbytes"].as_u64().unwrap()).sum();
        assert!(blocks.is_empty() || nbytes == fixture.nbytes, "{file}");
        dir.b2(&format!("verify -q {file}")).ok();
        assert_eq!(
            sha256_hex(&dir.b2(&format!("cat {file}")).ok().stdout),
            fixture.sha256,
            "{file}"
        );
        nfiles += 1;
    }
    assert!(nfiles > 70, "{nfiles}");
}

/// The damaged chunks of the conformance suite, whose runner compares the data of the sound ones.
#[test]
fn every_damaged_case_is_refused() {
    let dir = Dir::new();
    let is_damaged = |case: &Case| case.format == "chunk" && case.kind == Kind::Invalid;
    let mut ncases = 0;
    for case in cases().unwrap().into_iter().filter(is_damaged) {
        let id = &case.id;
        fs::copy(case.path(), dir.path("case")).unwrap();
        // Not all of them look like chunks, so their place is named.
        assert!(matches!(dir.b2("cat case@0").code, Some(1 | 4 | 5)), "{id}");
        assert!(matches!(dir.b2("verify case").code, Some(1 | 4)), "{id}");
        assert!(matches!(dir.b2("info -vv case@0").code, Some(0 | 1 | 4)), "{id}");
        ncases += 1;
    }
    assert!(ncases > 100, "{ncases}");
}

#[test]
fn compressed_data_round_trip() {
    let dir = Dir::new();
    let data = walk(50_000);
    dir.write("w.i32", &data);
    for options in [
        "",
        "--fast",
        "-9",
        "-0",
        "-C lz4 --target blosc-1.3",
        "-C zstd --target blosc-1.11 --filter bitshuffle",
        "-C blosclz --target blosc-1.14 --block-size 10000",
        "--dict --block-size 4K",
        "--dict -C lz4hc --target blosc2-3.0 --block-size 4K",
        "--split never --filter none",
    ] {
        dir.b2(&format!("c -q -f --verify --format chunk {options} w.i32")).ok();
        assert!(dir.b2("cat w.i32.chunk").ok().stdout == data, "{options}");
        assert!(
            dir.b2("cat --items 40000:40010 w.i32.chunk").ok().stdout == data[160_000..160_040]
        );
        dir.b2("verify -q w.i32.chunk").ok();
        dir.b2("d -f w.i32.chunk").ok();
        assert!(dir.read("w.i32") == data, "{options}");
    }
}

#[test]
fn the_name_of_the_output_chooses_the_format() {
    let dir = Dir::new();
    dir.write("w.i32", walk(1000));
    dir.b2("c -q -o w.chunk w.i32").ok();
    assert!(dir.b2("info w.chunk").ok().text().starts_with("w.chunk: Blosc2 chunk (version 5)"));
    dir.b2("c -q --format b2frame -f -o w.chunk w.i32").ok();
    assert!(dir.b2("info w.chunk").ok().text().starts_with("w.chunk: Blosc2 super-chunk"));
}

#[test]
fn pipes_carry_one_chunk() {
    let dir = Dir::new();
    let data = walk(10_000);
    let chunk = dir.b2_with("c --format chunk -t 4", &data).ok();
    assert!(chunk.stderr.starts_with("b2: stdin: 39.1 KiB -> "), "{}", chunk.stderr);
    assert!(chunk.stderr.ends_with(" in one chunk\n"), "{}", chunk.stderr);
    assert!(dir.b2_with("cat", &chunk.stdout).ok().stdout == data);
    dir.b2_with("verify", &chunk.stdout).ok();
    let longer = [&chunk.stdout[..], b"!"].concat();
    assert_eq!(dir.b2_with("cat", &longer).code, Some(4));
}

#[test]
fn input_and_output_fit_the_memory_or_are_refused() {
    let dir = Dir::new();
    dir.write("w.i32", walk(1_000_000));
    assert_eq!(dir.b2("c -M 6M --format chunk w.i32").code, Some(5));
    assert_eq!(dir.b2_with("c -M 6M --format chunk", &walk(1_000_000)).code, Some(5));
    assert_eq!(dir.names(), ["w.i32"]);
    // One block of four million bytes is more than can be decoded in one million.
    dir.b2("c -q --format chunk --block-size 4M w.i32").ok();
    assert_eq!(dir.b2("cat -M 1M w.i32.chunk").code, Some(5));
    assert_eq!(dir.b2("verify -M 1M w.i32.chunk").code, Some(5));
    dir.b2("info -M 1M w.i32.chunk").ok();
}

#[test]
fn conflicting_options_are_errors() {
    let dir = Dir::new();
    dir.write("w.i32", walk(100));
    snapshot!(dir.b2("c -o x.chunk -z 64K w.i32"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: one chunk holds all data: there is no chunk size to choose
    hint: leave out -z, or --format chunk
    ");
    snapshot!(dir.b2("c --target blosc-1.11 w.i32"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: readers of blosc-1.11 read bare chunks only
    hint: use --format chunk
    ");
    snapshot!(dir.b2("c --format chunk --target blosc-1.3 -C zstd w.i32"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: w.i32: blosc-1.3 readers have no codec zstd
    ");
    snapshot!(dir.b2("c --format chunk --dict -C lz4 w.i32"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: w.i32: blosc2-2.0 readers do not know dictionaries for LZ4
    ");
    assert_eq!(dir.b2("c --target blosc w.i32").code, Some(2));
    assert_eq!(dir.names(), ["w.i32"]);
}

#[test]
fn a_damaged_block_is_named_and_the_others_are_checked() {
    let dir = Dir::new();
    dir.write("w.i32", walk(10_000)).b2("c -q --format chunk --block-size 8K w.i32").ok();
    let mut chunk = dir.read("w.i32.chunk");
    let found: serde_json::Value =
        serde_json::from_slice(&dir.b2("info -vv --json w.i32.chunk").ok().stdout).unwrap();
    let second = usize::try_from(found["blocks"][1]["offset"].as_u64().unwrap()).unwrap();
    chunk[second + 3] = 0x7f;
    dir.write("bad.chunk", &chunk);
    snapshot!(dir.b2("verify bad.chunk"), @r"
    exit 1
    --- stdout
    bad.chunk: DAMAGED: 4 blocks good, 1 bad
    --- stderr
    b2: bad.chunk: block 1 at byte 2286: at byte 2286: a stream of 2130708480 bytes, 8498 are left
    ");
    snapshot!(dir.b2("verify --json bad.chunk"), @r#"
    exit 1
    --- stdout
    {"schema":"b2.verify/1","path":"bad.chunk","ok":false,"nchunks":1,"nblocks":5,"nbytes":40000,"bad":[{"offset":2286,"block":1,"kind":"data","message":"block 1 at byte 2286: at byte 2286: a stream of 2130708480 bytes, 8498 are left"}],"checksums":"none"}
    --- stderr
    "#);
    assert_eq!(dir.b2("cat --bytes :8192 bad.chunk").ok().stdout, walk(10_000)[..8192]);
    assert_eq!(dir.b2("cat bad.chunk").code, Some(1));
    assert_eq!(dir.b2("info bad.chunk").code, Some(1));
}

#[test]
fn chunk_of_another_length_is_foreign_without_an_offset() {
    let dir = Dir::new();
    dir.write("w.i32", walk(1000)).b2("c -q --format chunk -1 w.i32").ok();
    let chunk = dir.read("w.i32.chunk");
    dir.write("cut", &chunk[..100]).write("more", [&chunk[..], b"more"].concat());
    snapshot!(dir.b2("info cut"), @r"
    exit 4
    --- stdout
    --- stderr
    b2: cut: not a Blosc file (it begins like a chunk of 1218 bytes, but has 100)
    hint: cut@0 reads it as a chunk
    ");
    snapshot!(dir.b2("info cut@0"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: cut@0: at byte 12: cbytes 1218, but only 100 bytes are there
    ");
    assert_eq!(dir.b2("info more").code, Some(4));
    assert!(dir.b2("cat more@0").ok().stdout == walk(1000));
}

#[test]
fn chunks_inside_of_frames_can_be_looked_at() {
    let dir = Dir::new();
    let tiny = path("frames/tiny.b2frame");
    let run = dir.b2(&format!("info -vv {}@117", tiny.display())).ok();
    let text = run.text().split_once(": ").unwrap().1.to_owned();
    insta::assert_snapshot!(text, @r"
    Blosc2 chunk (version 5)
      items       16 x 4 bytes     64 B -> 59 B  1.08x
      blocks      1 of 64 B
      pipeline    shuffle -> lz4
      file        59 B     header 32 B, block starts 4 B, dead 0 B
      checksums   none
      opens with  C-Blosc2 2.0.3 or newer
        block        offset         bytes          data    ratio  streams
            0            36            23            64     2.78  1 coded
    ");
}

#[test]
fn lazy_chunks_are_described_and_not_decoded() {
    let dir = Dir::new();
    dir.write("w.i32", walk(1000)).b2("c -q --format chunk -1 w.i32").ok();
    let mut lazy = dir.read("w.i32.chunk")[..36].to_vec();
    lazy[0x1f] |= 8;
    lazy.extend([0; 16]);
    dir.write("lazy", &lazy);
    snapshot!(dir.b2("info lazy"), @r"
    exit 0
    --- stdout
    lazy: Blosc2 chunk (version 5)
      items       1 000 x 4 bytes     3.9 KiB -> 1.2 KiB  3.28x
      blocks      1 of 3.9 KiB, split into 4 streams
      pipeline    shuffle -> zstd
      file        52 B     header 32 B; a lazy chunk: its blocks are elsewhere
      checksums   none
      opens with  C-Blosc2 2.0.3 or newer
    --- stderr
    ");
    snapshot!(dir.b2("cat lazy"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: lazy: at byte 31: a lazy chunk, without data
    ");
    assert_eq!(dir.b2("verify lazy").code, Some(1));
}

#[test]
fn directories_are_searched_for_chunks() {
    let dir = Dir::new();
    fs::create_dir(dir.path("zarr")).unwrap();
    fs::copy(path("chunks/generated/zarr2-f8-0.0.chunk"), dir.path("zarr/0.0")).unwrap();
    dir.write("zarr/.zarray", "{}");
    snapshot!(dir.b2("ls -r zarr"), @r"
    exit 0
    --- stdout
    Format  Chunks  Compressed  Uncompressed  Ratio  Check  Name
    chunk        1     1.8 KiB      15.6 KiB   8.81  none   zarr/0.0
    --- stderr
    b2: zarr: left out: 1 of other formats
    hint: -v names them
    ");
    snapshot!(dir.b2("info zarr/0.0"), @r"
    exit 0
    --- stdout
    zarr/0.0: Blosc1 chunk (version 2)
      items       2 000 x 8 bytes     15.6 KiB -> 1.8 KiB  8.81x
      blocks      1 of 15.6 KiB
      pipeline    shuffle -> zstd
      file        1.8 KiB     header 16 B, block starts 4 B, dead 0 B
      checksums   none
      opens with  C-Blosc 1.11 or newer, C-Blosc2, numcodecs, zarrs
    --- stderr
    ");
}
