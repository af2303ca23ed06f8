//! Bloscpack files, written by any program: read like frames.

use blosc_testdata::fixture::path;

use crate::session::{Dir, snapshot, walk};

/// A folder with a file of Bloscpack 0.16.0.
fn with(name: &str) -> Dir {
    let dir = Dir::new();
    dir.write("x.blp", std::fs::read(path(format!("bloscpack/{name}.blp"))).unwrap());
    dir
}

#[test]
fn info_describes_a_bloscpack_file() {
    snapshot!(with("real_append_mixed_codec").b2("info x.blp"), @r"
    exit 0
    --- stdout
    x.blp: Bloscpack file (format version 3)
      items       3 750 x 8 bytes     29.3 KiB -> 5.0 KiB  5.83x
      chunks      8 of 4.0 KiB, last 1.3 KiB
      offsets     yes, room for 25 more chunks
      pipeline    shuffle -> blosclz (first chunk, blocks of 4.0 KiB)
      file        5.3 KiB     dead 0 B
      checksums   adler32 per chunk
    --- stderr
    ");
    snapshot!(with("real_np_struct").b2("info -vv x.blp"), @r#"
    exit 0
    --- stdout
    x.blp: Bloscpack file (format version 3)
      shape       2     [('a', '<i4'), ('b', '<f8'), ('c', '|S3')], C order
      size        30 B -> 46 B  0.65x
      chunks      1, last 30 B
      offsets     yes, room for 10 more chunks
      pipeline    shuffle -> blosclz (first chunk, blocks of 30 B)
      file        1.2 KiB     dead 0 B
      checksums   adler32 per chunk
      metadata    89 B, room for 980 B: {"dtype":"[('a', '<i4'), ('b', '<f8'), ('c', '|S3')]","shape":[2],"order":"C","container":"numpy"}
        chunk          offset         bytes          data    ratio  blocksize  special  pipeline
            0           1 136            46            30     0.65         30  -        stored
    --- stderr
    "#);
    snapshot!(with("synth_v3_stream").b2("info x.blp"), @r"
    exit 0
    --- stdout
    x.blp: Bloscpack file (format version 3)
      items       2 500 x 8 bytes     19.5 KiB -> 3.5 KiB  5.60x
      chunks      3
      offsets     no
      pipeline    shuffle -> blosclz (first chunk, blocks of 8.0 KiB)
      file        3.5 KiB     dead 0 B
      checksums   adler32 per chunk
      warning     the number of chunks is not in the header; Bloscpack 0.16.0 decodes such a file to nothing
    --- stderr
    ");
    snapshot!(with("old_v1").b2("info --json x.blp"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.info/1","path":"x.blp","format":"blp","format_version":1,"nbytes":20000,"cbytes":5141,"cratio":3.8902937171756466,"file_bytes":5157,"dead_bytes":0,"nchunks":3,"offsets":false,"max_app_chunks":0,"checksum":"none","typesize":4,"codec":"blosclz","filters":["shuffle"],"filters_meta":[0],"blocksize":8192}
    --- stderr
    "#);
    snapshot!(with("real_np_2d_F").b2("info --json x.blp"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.info/1","path":"x.blp","format":"blp","format_version":3,"nbytes":480,"cbytes":156,"cratio":3.076923076923077,"file_bytes":956,"dead_bytes":0,"nchunks":1,"chunk_size":480,"last_chunk":480,"offsets":true,"max_app_chunks":10,"checksum":"adler32","typesize":4,"codec":"blosclz","filters":["shuffle"],"filters_meta":[0],"blocksize":480,"shape":[8,15],"dtype":"<i4","order":"F","metadata":{"dtype":"'<i4'","shape":[8,15],"order":"F","container":"numpy"}}
    --- stderr
    "#);
}

#[test]
fn list_has_the_kind_of_checksum() {
    snapshot!(with("real_checksum_sha256").b2("list x.blp"), @r"
    exit 0
    --- stdout
    Format  Chunks  Compressed  Uncompressed  Ratio  Check   Name
    blp          3     1.7 KiB       5.9 KiB   3.53  sha256  x.blp
    --- stderr
    ");
    snapshot!(with("real_meta_zlib").b2("list --json x.blp"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.list/1","path":"x.blp","format":"blp","nchunks":5,"file_bytes":10826,"nbytes":40000,"file_ratio":3.694808793644929,"checksum":"adler32"}
    --- stderr
    "#);
}

#[test]
fn every_sample_is_sound_and_decompressed_the_same_by_all_ways() {
    let samples = std::fs::read_dir(path("bloscpack")).unwrap();
    let names = samples.map(|sample| sample.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> =
        names.filter(|name| name.ends_with(".blp") && name != "synth_v3_aborted.blp").collect();
    assert!(names.len() > 70);
    let dir = Dir::new();
    for name in &names {
        let file = path(format!("bloscpack/{name}"));
        let bytes = std::fs::read(&file).unwrap();
        dir.write("x.blp", &bytes);
        let verify = dir.b2("verify x.blp");
        assert_eq!(verify.code, Some(0), "{name}: {}", verify.all());
        dir.b2("d -f x.blp").ok();
        let data = dir.read("x");
        assert_eq!(dir.b2("cat x.blp").ok().stdout, data, "{name}");
        assert_eq!(dir.b2_with("cat", &bytes).ok().stdout, data, "{name}");
        let end = data.len().min(3000);
        let start = data.len().min(1);
        assert_eq!(
            dir.b2("cat --bytes 1:3000 x.blp").ok().stdout,
            data[start..end.max(start)],
            "{name}"
        );
    }
}

#[test]
fn items_are_those_of_the_header() {
    let dir = with("real_typesize_3");
    let all = dir.b2("cat x.blp").ok().stdout;
    assert_eq!(dir.b2("cat --items 5:9 x.blp").ok().stdout, all[15..27]);
    assert_eq!(
        dir.b2("cat --items=-2: x.blp").ok().stdout,
        all[all.len() / 3 * 3 - 6..all.len() / 3 * 3]
    );
}

#[test]
fn a_file_inside_another_is_read_from_its_offset() {
    let dir = with("real_multichunk");
    let bytes = [b"something before".to_vec(), dir.read("x.blp")].concat();
    dir.write("both", bytes);
    assert_eq!(dir.b2("cat both@16").ok().stdout, dir.b2("cat x.blp").ok().stdout);
}

#[test]
fn damage_is_found_and_named() {
    let dir = with("malformed/flipped_data_bit");
    snapshot!(dir.b2("verify x.blp"), @r"
    exit 1
    --- stdout
    x.blp: DAMAGED: 2 chunks good, 1 bad
    --- stderr
    b2: x.blp: at byte 80: chunk 0 does not have the adler32 digest that is stored
    hint: `b2 rescue x.blp -o NEW` saves what can be read
    ");
    snapshot!(dir.b2("verify --json x.blp"), @r#"
    exit 1
    --- stdout
    {"schema":"b2.verify/1","path":"x.blp","ok":false,"nchunks":3,"nbytes":3952,"bad":[{"offset":80,"chunk":0,"kind":"data","message":"at byte 80: chunk 0 does not have the adler32 digest that is stored"}],"checksums":"adler32","hint":"`b2 rescue x.blp -o NEW` saves what can be read"}
    --- stderr
    "#);
    snapshot!(dir.b2("d x.blp"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: x.blp: at byte 80: chunk 0 does not have the adler32 digest that is stored
    ");
    assert_eq!(dir.names(), ["x.blp"]);
    snapshot!(with("malformed/nchunks_huge").b2("info x.blp"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: x.blp: at byte 32: offsets of 18446744073709551615 bytes, 1600 are left
    ");
    snapshot!(with("malformed/version_4").b2("info x.blp"), @r"
    exit 4
    --- stdout
    --- stderr
    b2: x.blp: format version 4, known are 1 to 3
    ");
    snapshot!(with("malformed/bad_magic").b2("info x.blp"), @r"
    exit 4
    --- stdout
    --- stderr
    b2: x.blp: not a Blosc file (starts with 62 6c 70 58)
    ");
}

#[test]
fn removing_the_input_must_not_lose_metadata() {
    let dir = with("real_meta_zlib");
    snapshot!(dir.b2("d --rm x.blp"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: x.blp: kept, because the metadata would be lost
    hint: use -f with --rm if this is meant
    ");
    dir.b2("d --rm -f x.blp").ok();
    assert_eq!(dir.names(), ["x"]);
}

#[test]
fn compress_writes_what_every_reader_of_the_format_knows() {
    let dir = Dir::new();
    let data = walk(100_000);
    dir.write("data", &data);
    dir.b2("c --format blp -z 64K -t 4 --checksum sha256 --verify data").ok();
    assert_eq!(dir.names(), ["data", "data.blp"]);
    assert_eq!(dir.b2("cat data.blp").ok().stdout, data);
    assert!(
        dir.b2("verify data.blp").ok().text().contains("OK (decoded; sha256 of 7 chunks checked)")
    );
    let info = dir.b2("info --json data.blp").ok();
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    let header = ["nchunks", "chunk_size", "last_chunk", "max_app_chunks", "typesize"]
        .map(|key| info[key].as_u64());
    assert_eq!(header, [7, 65536, 400_000 - 6 * 65536, 70, 4].map(Some));
    assert_eq!((&info["codec"], &info["offsets"]), (&"zstd".into(), &true.into()));
    // The name alone chooses the format, and an input may be empty.
    dir.write("none", b"");
    dir.b2("c -o none.blp none").ok();
    assert_eq!(dir.read("none.blp").len(), 140);
    dir.b2("c --rm --format blp data -o other.blp").ok();
    dir.b2("d other.blp -o data").ok();
    assert_eq!(dir.read("data"), data);
}

#[test]
fn blp_to_a_pipe_has_an_unknown_chunk_count() {
    let dir = Dir::new();
    let data = walk(100_000);
    let packed = dir.b2_with("c --format blp -t 4 -z 100K", &data).ok();
    assert_eq!(packed.stdout[16..24], [255; 8]);
    assert_eq!(dir.b2_with("cat", &packed.stdout).ok().stdout, data);
    dir.write("data", &data);
    // The size of the file gives the number of chunks, but a pipe cannot seek back to write
    // offsets.
    let packed = dir.b2("c --format blp -c data").ok();
    assert_eq!(packed.stdout[16], 1);
    assert_eq!(packed.stdout[5], 0);
}

#[test]
fn impossible_blp_options_are_refused() {
    let dir = Dir::new();
    dir.write("data", walk(1000));
    snapshot!(dir.b2("c --format blp --meta a=1 data"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: a chunk or a Bloscpack file has no metalayers
    hint: use --format b2frame
    ");
    snapshot!(dir.b2("c --checksum md5 data"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: a .b2frame file has no such checksum
    hint: --checksum body, chunks or none is for frames and arrays, adler32 to sha512 or none for --format blp
    ");
    snapshot!(dir.b2("c --format blp --verify -c data"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: data: output in a pipe cannot be read back
    hint: use -o to name a file
    ");
    snapshot!(dir.b2("c --format blp --checksum sha3 data"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: --checksum: sha3 is none of body and chunks (frames), adler32, crc32, md5, sha1, sha224, sha256, sha384 and sha512 (Bloscpack), and none
    hint: `b2 compress -h` lists the options
    ");
    snapshot!(dir.b2("c --format blp --filter delta data"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: data: chunk 0 at byte 0: blosc-1.14 chunks cannot have the filters delta
    ");
    assert_eq!(dir.names(), ["data"]);
}
