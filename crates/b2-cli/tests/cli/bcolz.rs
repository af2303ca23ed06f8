//! Data sets of bcolz: directories that are arrays or tables, written by any program.

use std::{fs, path::Path};

use blosc_testdata::fixture::path;

use crate::session::{Dir, Run, snapshot, walk};

/// A folder with copies of data sets of bcolz 1.2.1.
pub(crate) fn with(names: &[&str]) -> Dir {
    let dir = Dir::new();
    for name in names {
        let name = Path::new(name);
        copy(&path(Path::new("bcolz").join(name)), &dir.path(name.file_name().unwrap()));
    }
    dir
}

/// Copies a directory with its content.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn info_describes_a_data_set() {
    let dir = with(&["ca_appended", "ca_2d", "ct_attrs", "ct_torn_append", "ca_object"]);
    snapshot!(dir.b2("info ca_2d ca_object"), @r"
    exit 0
    --- stdout
    ca_2d: bcolz array (carray, disk format 1)
      shape       10 x 7     <i8, items of 8 bytes
      chunks      3 of 4 rows (224 B), last 2
      size        560 B -> 264 B  2.12x
      pipeline    shuffle -> lz4 level 5 (first chunk, blocks of 224 B)
      files       499 B     dead 0 B
    ca_object: bcolz array (carray, disk format 1)
      shape       5     object
      chunks      5, one for each element
      size        77 B -> 157 B  0.49x
      pipeline    shuffle -> lz4 level 5 (first chunk, blocks of 18 B)
      files       422 B     dead 0 B
    --- stderr
    ");
    snapshot!(dir.b2("info -vv ca_appended"), @r"
    exit 0
    --- stdout
    ca_appended: bcolz array (carray, disk format 1)
      shape       64     <i4, items of 4 bytes
      chunks      7 of 10 rows (40 B), last 4
      size        256 B -> 368 B  0.70x
      pipeline    shuffle -> lz4 level 5 (first chunk, blocks of 40 B)
      files       665 B     dead 0 B
      fill value  0
        chunk          offset         bytes          data    ratio  blocksize  special  pipeline
            0              16            56            40     0.71         40  -        stored
            1              16            56            40     0.71         40  -        stored
            2              16            56            40     0.71         40  -        stored
            3              16            56            40     0.71         40  -        stored
            4              16            56            40     0.71         40  -        stored
            5              16            56            40     0.71         40  -        stored
            6              16            32            16     0.50         16  -        stored
    --- stderr
    ");
    snapshot!(dir.b2("info -v ct_attrs"), @r#"
    exit 0
    --- stdout
    ct_attrs: bcolz table (ctable, disk format 1), 50 rows, 1 column
      column  dtype  chunks  size                  codec
      a       <i8         1  400 B -> 91 B  4.40x  lz4 5 shuffle
      size        400 B -> 91 B  4.40x
      files       377 B     dead 0 B
      attrs       pressure, timestamp, title
      pressure    999.2
      timestamp   "2016030915"
      title       "test"
    --- stderr
    "#);
    snapshot!(dir.b2("info -vv ct_torn_append/"), @r"
    exit 0
    --- stdout
    ct_torn_append/: bcolz table (ctable, disk format 1), 50 rows, 2 columns
      column  dtype  chunks  size                   codec
      a       <i8         1  424 B -> 94 B  4.51x   lz4 5 shuffle
      b       <f8         1  400 B -> 107 B  3.74x  lz4 5 shuffle
      size        824 B -> 201 B  4.10x
      files       640 B     dead 0 B
      warning     columns of 50 to 53 rows; 50 are complete
      hint        b2 rescue ct_torn_append/ -o ct_torn_append-fixed
      a
        chunk          offset         bytes          data    ratio  blocksize  special  pipeline
            0              16            94           424     4.51        424  -        shuffle -> lz4
      b
        chunk          offset         bytes          data    ratio  blocksize  special  pipeline
            0              16           107           400     3.74        400  -        shuffle -> lz4
    --- stderr
    ");
    snapshot!(dir.b2("info --json ca_2d ct_attrs"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.info/1","path":"ca_2d","format":"carray","format_version":1,"nbytes":560,"cbytes":264,"cratio":2.121212121212121,"nchunks":3,"chunksize":224,"chunklen":4,"blocksize":224,"typesize":8,"codec":"lz4","clevel":5,"filters":["shuffle"],"filters_meta":[0],"shape":[10,7],"dtype":"<i8","dflt":0,"file_bytes":499,"dead_bytes":0}
    {"schema":"b2.info/1","path":"ct_attrs","format":"ctable","nbytes":400,"cbytes":91,"cratio":4.395604395604396,"nchunks":1,"rows":50,"columns":[{"name":"a","format":"carray","format_version":1,"nbytes":400,"cbytes":91,"cratio":4.395604395604396,"nchunks":1,"chunksize":32768,"chunklen":4096,"blocksize":400,"typesize":8,"codec":"lz4","clevel":5,"filters":["shuffle"],"filters_meta":[0],"shape":[50],"dtype":"<i8","dflt":0}],"attrs":{"pressure":999.2,"timestamp":"2016030915","title":"test"},"file_bytes":377,"dead_bytes":0}
    --- stderr
    "#);
    snapshot!(dir.b2("info --json -vv ct_attrs::/a"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.info/1","path":"ct_attrs/a","format":"carray","format_version":1,"nbytes":400,"cbytes":91,"cratio":4.395604395604396,"nchunks":1,"chunksize":32768,"chunklen":4096,"blocksize":400,"typesize":8,"codec":"lz4","clevel":5,"filters":["shuffle"],"filters_meta":[0],"shape":[50],"dtype":"<i8","dflt":0,"chunks":[{"nchunk":0,"offset":16,"cbytes":91,"nbytes":400,"codec":"lz4","filters":["shuffle"],"blocksize":400}],"file_bytes":296,"dead_bytes":0}
    --- stderr
    "#);
}

#[test]
fn a_data_set_is_one_line_of_a_list() {
    let dir = with(&["ca_2d", "ct_basic", "ca_object"]);
    snapshot!(dir.b2("list ca_2d ct_basic ct_basic/f ca_object"), @"
    exit 0
    --- stdout
    Format  Chunks  Compressed  Uncompressed  Ratio  Check  Name
    carray       3       499 B         560 B   1.12  none   ca_2d
    ctable       3     1.0 KiB       1.4 KiB   1.31  none   ct_basic
    carray       1       316 B         400 B   1.27  none   ct_basic/f
    carray       5       422 B          77 B   0.18  none   ca_object
                12     2.2 KiB       2.4 KiB   1.06         4 files
    --- stderr
    ");
    let rows = dir.b2("list --json -r .").ok();
    let paths: Vec<&str> = rows.text().lines().filter_map(|row| row.split('"').nth(7)).collect();
    assert_eq!(paths, ["./ca_2d", "./ca_object", "./ct_basic"]);
}

#[test]
fn verify_decodes_every_chunk_of_every_column() {
    let dir = with(&[
        "ca_trim_stale",
        "ct_basic",
        "ca_object",
        "malformed/chunk_truncated",
        "malformed/attrs_no_json",
    ]);
    snapshot!(dir.b2("verify ca_trim_stale ct_basic ca_object chunk_truncated attrs_no_json"), @r"
    exit 1
    --- stdout
    ca_trim_stale: OK (decoded; no checksums stored)
    ct_basic: OK (decoded; no checksums stored)
    ca_object: OK (decoded; no checksums stored)
    chunk_truncated: DAMAGED: 2 chunks good, 1 bad
    attrs_no_json: DAMAGED: all 3 chunks decode, the rest is above
    --- stderr
    b2: ca_trim_stale: warning: 1 chunk file does not belong to the data
    b2: chunk_truncated: data/__1.blp: 69 bytes long, 72 are needed
    hint: `b2 rescue chunk_truncated -o NEW` saves what can be read
    b2: attrs_no_json: __attrs__: no JSON at byte 1: expected a string
    hint: `b2 rescue attrs_no_json -o NEW` saves what can be read
    ");
    snapshot!(dir.b2("verify --json ct_basic chunk_truncated"), @r#"
    exit 1
    --- stdout
    {"schema":"b2.verify/1","path":"ct_basic","ok":true,"nchunks":3,"nbytes":1400,"bad":[],"checksums":"none"}
    {"schema":"b2.verify/1","path":"chunk_truncated","ok":false,"nchunks":3,"nbytes":60,"bad":[{"chunk":1,"kind":"data","message":"data/__1.blp: 69 bytes long, 72 are needed"}],"checksums":"none","hint":"`b2 rescue chunk_truncated -o NEW` saves what can be read"}
    --- stderr
    "#);
}

#[test]
fn every_sample_is_sound_and_every_malformed_one_is_refused() {
    let samples = path("bcolz");
    let dir = Dir::new();
    for entry in fs::read_dir(&samples).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.ends_with("malformed") {
            let run = dir.b2(&format!("verify {}", entry.display()));
            assert_eq!(run.code, Some(0), "{}", run.stderr);
        }
    }
    for entry in fs::read_dir(samples.join("malformed")).unwrap().map(|entry| entry.unwrap().path())
    {
        for command in ["verify", "info", "cat", "show", "list", "decompress -o out"] {
            let run = dir.b2(&format!("{command} {}", entry.display()));
            assert!(matches!(run.code, Some(0..=5)), "{entry:?} {run:?}");
            assert!(!run.stderr.contains("panicked"), "{run:?}");
            let damaged = command == "verify" && entry.is_dir();
            assert!(!damaged || run.code == Some(1), "{entry:?} {run:?}");
        }
    }
}

#[test]
fn content_of_an_array_are_its_items_and_of_a_table_its_rows() {
    let dir = with(&["ca_2d", "ct_basic", "ca_object"]);
    let items: Vec<u8> = (0..70_i64).flat_map(i64::to_le_bytes).collect();
    assert_eq!(dir.b2("cat ca_2d").ok().stdout, items);
    assert_eq!(dir.b2("cat --items 5:-3 ca_2d").ok().stdout, items[40..536]);
    assert_eq!(dir.b2("cat --bytes 3:500 ca_2d").ok().stdout, items[3..500]);
    let column = dir.b2("cat ct_basic::/i").ok().stdout;
    let rows = dir.b2("cat ct_basic").ok().stdout;
    assert_eq!(rows.len(), 50 * (8 + 8 + 12));
    assert!(rows.chunks(28).map(|row| &row[..8]).eq(column.chunks(8)));
    assert_eq!(dir.b2("cat --items 10:20 ct_basic").ok().stdout, rows[280..560]);
    snapshot!(dir.b2("cat ca_object"), @"
    exit 4
    --- stdout
    --- stderr
    b2: ca_object: items are Python objects, which have no raw bytes
    hint: `b2 show` shows what is plain data
    ");
}

#[test]
fn decompress_gives_raw_items_or_a_numpy_file() {
    let dir = with(&["ca_2d", "ct_basic"]);
    fs::rename(dir.path("ca_2d"), dir.path("field.bcolz")).unwrap();
    dir.b2("decompress field.bcolz").ok();
    let npy = dir.read("field.npy");
    assert_eq!(&npy[128..], dir.b2("cat field.bcolz").ok().stdout);
    let header = String::from_utf8_lossy(&npy[10..128]).trim_end().to_owned();
    assert_eq!(header, "{'descr': '<i8', 'fortran_order': False, 'shape': (10, 7), }");
    dir.b2("decompress ct_basic -o table.npy").ok();
    assert!(
        String::from_utf8_lossy(&dir.read("table.npy"))
            .contains("[('i', '<i8'), ('f', '<f8'), ('s', '<U3')]")
    );
    dir.b2("decompress ct_basic -o table").ok();
    assert_eq!(dir.read("table"), dir.b2("cat ct_basic").ok().stdout);
    snapshot!(dir.b2("decompress ct_basic"), @"
    exit 2
    --- stdout
    --- stderr
    b2: ct_basic: the name does not end in .b2frame, .b2nd, .chunk, .blp or .bcolz: there is no suffix to remove
    hint: use -o to name the output, or --suffix
    ");
}

#[test]
fn data_sets_are_not_compressed_again() {
    let dir = with(&["ca_2d"]);
    dir.write("x.f32", [0; 64]);
    dir.b2("compress -r .").ok();
    assert_eq!(dir.names(), ["ca_2d", "x.f32", "x.f32.b2frame"]);
    assert_eq!(dir.b2("compress ca_2d").code, Some(2));
}

#[test]
fn a_limit_of_memory_or_output_is_kept() {
    let dir = with(&["ca_large"]);
    assert_eq!(dir.b2("cat -M 4K ca_large").code, Some(5));
    assert_eq!(dir.b2("cat --max-output 4K ca_large").code, Some(5));
    assert_eq!(dir.b2("verify --max-output 4K ca_large").code, Some(5));
}

#[test]
fn arrays_are_shown_as_arrays_are() {
    let dir = with(&["ca_3d", "ca_large", "ca_object", "ca_empty_2d", "ca_struct"]);
    snapshot!(dir.b2("show --slice 1,:,::-2 ca_3d"), @"
    exit 0
    --- stdout
    [[29. 27. 25.]
     [35. 33. 31.]
     [41. 39. 37.]
     [47. 45. 43.]]
    --- stderr
    ");
    snapshot!(dir.b2("show ca_large ca_empty_2d"), @r"
    exit 0
    --- stdout
    ==> ca_large <==
    [    0     1     2 ... 99997 99998 99999]

    ==> ca_empty_2d <==
    []
    --- stderr
    ");
    snapshot!(dir.b2("show --csv -n 2 ca_struct"), @"
    exit 0
    --- stdout
    a,b,c
    0,0.0,s0
    1,0.5,s1
    --- stderr
    ");
    snapshot!(dir.b2("show ca_object"), @"
    exit 0
    --- stdout
    'abc'
    1
    None
    [1, 2.5]
    {'k': 'v'}
    --- stderr
    ");
    snapshot!(dir.b2("show --json --slice 3: ca_object"), @r#"
    exit 0
    --- stdout
    {"schema":"b2.show/1","path":"ca_object","dtype":"object","shape":[2],"values":[[1,2.5],{"k":"v"}]}
    --- stderr
    "#);
    let all = dir.b2("show --csv ca_large").ok();
    assert!(all.text().lines().skip(1).eq((0..100_000).map(|n| n.to_string())));
    snapshot!(dir.b2("show --columns a ca_3d"), @"
    exit 2
    --- stdout
    --- stderr
    b2: ca_3d: not a table: --where, --skip and --columns do not apply
    ");
}

#[test]
fn tables_are_shown_with_the_names_of_their_columns() {
    let dir = with(&[
        "ct_basic",
        "ct_large",
        "ct_2d_column",
        "ct_object_column",
        "ct_empty",
        "ct_odd_names",
    ]);
    snapshot!(dir.b2("show ct_large"), @"
    exit 0
    --- stdout
       key   flag     val
         0   True     0.0
         1  False     0.0
         2  False     0.0
         3  False     0.0
         4  False     0.0
       ...    ...     ...
    149995  False  1499.0
    149996   True  1499.0
    149997  False  1499.0
    149998  False  1499.0
    149999  False  1499.0
    150 000 rows x 3 columns
    --- stderr
    ");
    snapshot!(dir.b2("show -n 2 --skip 1 ct_basic ct_2d_column ct_odd_names ct_empty"), @r"
    exit 0
    --- stdout
    ==> ct_basic <==
    i     f  s
    1  0.25  n1
    2   0.5  n2

    ==> ct_2d_column <==
    m        x
    [3 4 5]  1
    [6 7 8]  2

    ==> ct_odd_names <==
    a  two words  data  meta
    1       0.25  0.25  0.25
    2        0.5   0.5   0.5

    ==> ct_empty <==
    a  b
    --- stderr
    ");
    snapshot!(dir.b2("show -n 1 ct_object_column"), @r#"
    exit 0
    --- stdout
    a
    0
    --- stderr
    b2: ct_object_column: warning: column "o" holds Python objects, which are shown by themselves only
    "#);
    snapshot!(dir.b2("show --json --slice=-2: ct_2d_column"), @r#"
    exit 0
    --- stdout
    {"m":[24,25,26],"x":8}
    {"m":[27,28,29],"x":9}
    --- stderr
    "#);
}

#[test]
fn rows_are_found_by_expressions() {
    let dir = with(&["ct_basic", "ct_large"]);
    let show = |filter: &str, line: &str| {
        let mut command = dir.command(line);
        Run::of(command.args(["--where", filter]).output().unwrap())
    };
    snapshot!(show("i > 45", "show --csv --columns s,i ct_basic"), @"
    exit 0
    --- stdout
    s,i
    n46,46
    n47,47
    n48,48
    n49,49
    --- stderr
    ");
    snapshot!(show("(i % 20 == 3) | (s == 'n7')", "show ct_basic"), @"
    exit 0
    --- stdout
     i      f  s
     3   0.75  n3
     7   1.75  n7
    23   5.75  n23
    43  10.75  n43
    --- stderr
    ");
    snapshot!(show("i >= 0", "show --json --skip 40 -n 1 ct_basic"), @r#"
    exit 0
    --- stdout
    {"i":40,"f":10.0,"s":"n40"}
    --- stderr
    "#);
    let found = show("flag & (key < 90000)", "show --csv --columns key ct_large").ok();
    let expected = (0..90_000).step_by(7).map(|key| key.to_string());
    assert!(found.text().lines().skip(1).eq(expected));
    snapshot!(show("i > 1 &", "show ct_basic"), @"
    exit 2
    --- stdout
    --- stderr
    b2: ct_basic: i > 1 &
                         ^ expected a column, a constant or a bracket
    ");
    snapshot!(show("price > 1", "show ct_basic"), @r###"
exit 2
--- stdout
--- stderr
b2: ct_basic: no column has the name "price"; there are i, f, s
hint: text stands in quotation marks, as in --where 'name == "A"'
"###);
    assert_eq!(show("i > 1", "show --columns nothing ct_basic").code, Some(2));
}

#[test]
fn control_characters_from_files_are_escaped() {
    let dir = Dir::new();
    copy(&path("bcolz/ct_basic"), &dir.path("t"));
    let names = fs::read_to_string(dir.path("t/__rootdirs__")).unwrap();
    fs::rename(dir.path("t/s"), dir.path("t/\u{1b}[2J")).unwrap();
    fs::write(dir.path("t/__rootdirs__"), names.replace("\"s\"", "\"\\u001b[2J\"")).unwrap();
    for line in ["show -n 1 t", "info t", "verify t", "info -v t"] {
        let run = dir.b2(line);
        assert!(!run.stdout.contains(&0x1b) && !run.stderr.contains('\x1b'), "{line}: {run:?}");
    }
}

#[test]
fn rescue_saves_what_can_be_read_as_something_new() {
    let dir = with(&[
        "ct_torn_append",
        "ct_basic",
        "malformed/chunk_truncated",
        "malformed/storage_no_json",
    ]);
    snapshot!(dir.b2("rescue ct_torn_append -o fixed"), @"
    exit 1
    --- stdout
    a: trimmed from 53 to 50 rows
    fixed: 800 B of data, see above
    --- stderr
    ");
    snapshot!(dir.b2("verify fixed"), @"
    exit 0
    --- stdout
    fixed: OK (decoded; no checksums stored)
    --- stderr
    ");
    snapshot!(dir.b2("rescue chunk_truncated -o fixed"), @"
    exit 3
    --- stdout
    --- stderr
    b2: fixed: file exists
    hint: use -f to overwrite, or -o to choose another name
    ");
    snapshot!(dir.b2("rescue -f --json chunk_truncated -o fixed"), @r#"
    exit 1
    --- stdout
    {"schema":"b2.rescue/1","path":"chunk_truncated","output":"fixed","complete":false,"nbytes":100,"filled":40,"actions":["filled chunk 1, 10 rows, with the fill value"],"chunks":{"good":2,"doubtful":0,"lost":1},"bad":[{"chunk":1,"state":"lost"}]}
    --- stderr
    "#);
    snapshot!(dir.b2("show fixed"), @"
    exit 0
    --- stdout
    [ 1  2  3  4  5  6  7  8  9 10  0  0  0  0  0  0  0  0  0  0 21 22 23 24
     25]
    --- stderr
    ");
    snapshot!(dir.b2("rescue ct_basic -o whole"), @"
    exit 0
    --- stdout
    whole: everything (1.4 KiB)
    --- stderr
    ");
    snapshot!(dir.b2("rescue storage_no_json -o raw"), @"
    exit 1
    --- stdout
    the type is lost; items are |V4, as the chunks have them
    raw: 100 B of data, see above
    --- stderr
    ");
    assert_eq!(
        dir.names(),
        [
            "chunk_truncated",
            "ct_basic",
            "ct_torn_append",
            "fixed",
            "raw",
            "storage_no_json",
            "whole"
        ]
    );
    assert_eq!(dir.b2("cat whole").ok().stdout, dir.b2("cat ct_basic").ok().stdout);
    assert!(dir.b2("info ct_torn_append").ok().text().contains("50 to 53 rows"));
}

#[test]
fn rescue_takes_the_sound_chunks_of_a_bloscpack_file() {
    let dir = Dir::new();
    dir.write("w", walk(5000)).b2("compress -q -z 4K w -o w.blp").ok();
    let mut blp = dir.read("w.blp");
    let end = blp.len();
    blp[end - 100] ^= 0xff;
    dir.write("bad.blp", &blp);
    snapshot!(dir.b2("rescue bad.blp -o saved.blp"), @"
    exit 1
    --- stdout
    sound chunks: 4
    lost chunks: 1; filled, so that the others stay at their positions
    bytes 5070 to 6081 are no chunk
    saved.blp: 81.92 % of 19.5 KiB are data, see above
    --- stderr
    ");
    let saved = dir.b2("cat saved.blp").ok().stdout;
    assert_eq!((&saved[..16384], &saved[16384..]), (&dir.read("w")[..16384], &[0; 3616][..]));
    assert_eq!(dir.b2("rescue --cut bad.blp -o cut.blp").code, Some(1));
    assert_eq!(dir.b2("cat cut.blp").ok().stdout, dir.read("w")[..16384]);
    snapshot!(dir.b2("rescue w.blp -o again.blp"), @"
    exit 0
    --- stdout
    sound chunks: 5
    again.blp: everything (19.5 KiB)
    --- stderr
    ");
    dir.b2("compress -q w").ok();
    snapshot!(dir.b2("rescue w.b2frame -o x"), @"
    exit 0
    --- stdout
    x: everything (19.5 KiB)
    --- stderr
    ");
}

#[test]
fn attributes_are_shown_and_changed_in_place() {
    let dir = with(&["ct_attrs", "ca_2d"]);
    fs::write(dir.path("ct_attrs/__attrs__"), "{\"nan\": NaN, \"title\": \"test\", \"n\": 1}\n")
        .unwrap();
    snapshot!(dir.b2("meta get ct_attrs"), @r#"
    exit 0
    --- stdout
    nan    "NaN"
    title  "test"
    n      1
    --- stderr
    "#);
    dir.b2("meta set ct_attrs title=new list=[1,2.5,null]").ok();
    dir.b2("meta del ct_attrs n").ok();
    let text = fs::read_to_string(dir.path("ct_attrs/__attrs__")).unwrap();
    assert_eq!(text, "{\"nan\": NaN, \"title\": \"new\", \"list\": [1, 2.5, null]}\n");
    dir.write("new.json", "{\"metadata\": {\"nan\": \"NaN\", \"unit\": \"K\"}}");
    dir.b2("meta import ct_attrs new.json").ok();
    let text = fs::read_to_string(dir.path("ct_attrs/__attrs__")).unwrap();
    assert_eq!(text, "{\"nan\": NaN, \"unit\": \"K\"}\n");
    dir.b2("meta set ct_attrs/a unit=m").ok();
    assert_eq!(dir.b2("meta get ct_attrs::/a unit").ok().text(), "\"m\"\n");
    snapshot!(dir.b2("meta del ca_2d nothing"), @r#"
    exit 1
    --- stdout
    --- stderr
    b2: ca_2d: no metadata have the name "nothing"
    "#);
    snapshot!(dir.b2("meta export ct_attrs"), @r#"
    exit 0
    --- stdout
    {
      "metadata": {
        "nan": "NaN",
        "unit": "K"
      }
    }
    --- stderr
    "#);
}

#[test]
fn a_tree_shows_what_is_below_directories() {
    let dir = Dir::new();
    fs::create_dir_all(dir.path("archive/2019")).unwrap();
    for (name, to) in
        [("ct_basic", "archive/2019/trades"), ("ca_2d", "archive/field"), ("ct_2d_column", "alone")]
    {
        copy(&path(format!("bcolz/{name}")), &dir.path(to));
    }
    fs::copy(path("frames/tiny.b2frame"), dir.path("archive/tiny.b2frame")).unwrap();
    fs::write(dir.path("archive/note.txt"), "no data").unwrap();
    snapshot!(dir.b2("list --tree archive alone"), @r"
    exit 0
    --- stdout
    archive
    ├── 2019
    │   └── trades   ctable, 50 rows x 3 columns
    │       ├── i   50 of <i8
    │       ├── f   50 of <f8
    │       └── s   50 of <U3
    ├── field          carray, 10 x 7 of <i8
    └── tiny.b2frame   frame, 148 B
    alone   ctable, 10 rows x 2 columns
    ├── m   10 x 3 of <i4
    └── x   10 of <i8
    --- stderr
    b2: archive: left out: 1 of other formats
    hint: -v names them
    ");
    assert_eq!(dir.b2("list -r --json archive").text().lines().count(), 3);
}

/// The output of `verify` for a table whose column has stale sums.
#[test]
fn ok_of_a_table_means_that_its_sums_were_compared() {
    let dir = Dir::new();
    let rows: String = (0..3000).map(|n| format!("{n},{n}.5\n")).collect();
    dir.write("r.csv", format!("id,price\n{rows}"));
    let check = |change: &dyn Fn(&Path), code: i32, said: &str| {
        let _ = fs::remove_dir_all(dir.path("T.bcolz"));
        dir.b2("convert -q r.csv T.bcolz").ok();
        change(&dir.path("T.bcolz"));
        let run = dir.b2("verify T.bcolz");
        assert_eq!(run.code, Some(code), "{said}: {}", run.all());
        assert!(run.all().contains(said), "{said}: {}", run.all());
    };
    check(&|_| (), 0, "T.bcolz: OK (decoded; xxh3 of 2 chunks checked)");
    let remove = |table: &Path, name: &str| {
        fs::remove_file(table.join(name).join(".b2sums")).unwrap();
    };
    for name in ["id", "price"] {
        // The sums of the table tell a column that lost its sums from one that bcolz added.
        let lose = |table: &Path| {
            remove(table, name);
            let chunk = table.join(name).join("data/__0.blp");
            let mut bytes = fs::read(&chunk).unwrap();
            bytes[40] ^= 1;
            fs::write(chunk, bytes).unwrap();
        };
        check(&lose, 1, &format!("{name}/.b2sums: is missing"));
        let never = |table: &Path| {
            remove(table, name);
            remove(table, "");
        };
        let said = format!("{name}: no .b2sums beside those of other columns");
        check(&never, 0, &said);
        check(&never, 0, "OK (decoded; xxh3 of 1 of 2 chunks checked)");
        // Both commands that the hint names help.
        for mend in ["rescue -q T.bcolz -o saved.bcolz", "seal -q T.bcolz"] {
            dir.b2(mend).ok();
            let mended = if mend.starts_with("seal") { "T.bcolz" } else { "saved.bcolz" };
            let run = dir.b2(&format!("verify {mended}")).ok();
            assert!(!run.all().contains("beside those"), "{}", run.all());
        }
        fs::remove_dir_all(dir.path("saved.bcolz")).unwrap();
    }
    let all = |table: &Path| ["", "id", "price"].into_iter().for_each(|name| remove(table, name));
    check(&all, 0, "T.bcolz: OK (decoded; no checksums stored)");
    let cut = |len: u64| {
        move |table: &Path| {
            let file = fs::File::options().write(true).open(table.join("id/.b2sums")).unwrap();
            file.set_len(len).unwrap();
        }
    };
    let no_file = |table: &Path| {
        remove(table, "id");
        fs::create_dir(table.join("id/.b2sums")).unwrap();
    };
    check(&no_file, 1, "T.bcolz: DAMAGED");
    check(&cut(0), 1, "id/.b2sums: damaged: checksums were not compared");
    let cut_table = |table: &Path| fs::write(table.join(".b2sums"), "b2table").unwrap();
    check(&cut_table, 1, ".b2sums: damaged: checksums were not compared");
    check(&cut(40), 1, "T.bcolz: DAMAGED");
    // The command that the hint names for a damaged table helps.
    let run = dir.b2("rescue T.bcolz -o saved.bcolz");
    assert_eq!(
        (run.code, run.text().lines().next()),
        (Some(0), Some("id: left out .b2sums, which is damaged"))
    );
    dir.b2("verify saved.bcolz").ok();
    assert_eq!(dir.b2("show --csv saved.bcolz").ok().text().lines().count(), 3001);
}

/// bcolz writes all attributes anew with each, so that others are no damage; none at all are.
#[test]
fn attributes_have_a_sum() {
    let dir = Dir::new();
    dir.write("r.csv", "id,price\n1,2.5\n").write("a.raw", [7; 40]);
    dir.b2("convert -q r.csv T.bcolz").ok();
    dir.b2("convert -q --dtype i4 a.raw A.bcolz").ok();
    for set in ["T.bcolz", "A.bcolz"] {
        let clean = format!("{set}: OK (decoded; xxh3 of ");
        let verify = || dir.b2(&format!("verify {set}"));
        for (command, rest) in [("meta set", "unit=K"), ("meta set", "unit=EUR"), ("seal", "")] {
            dir.b2(&format!("{command} -q {set} {rest}")).ok();
            let run = verify().ok();
            assert!(run.text().starts_with(&clean) && run.stderr.is_empty(), "{}", run.all());
        }
        let file = dir.path(set).join("__attrs__");
        fs::write(&file, "{\"unit\": \"K\"}").unwrap();
        let run = verify().ok();
        assert!(run.stderr.contains("attributes changed by a program"), "{}", run.all());
        fs::write(&file, "").unwrap();
        assert!(verify().code == Some(1) && verify().stderr.contains("__attrs__: is missing"));
        fs::remove_file(&file).unwrap();
        assert!(verify().code == Some(1) && verify().stderr.contains("__attrs__: is missing"));
    }
}
