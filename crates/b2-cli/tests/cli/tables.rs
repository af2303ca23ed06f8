//! Tables over time: their sizes, their compression, their dead bytes, appended rows, and changes
//! of columns, cells and rows.

use std::fs;

use b2frame::{Dtype, NdParams, NdWriter, SChunk};
use blosc_chunk::{CParams, CodecId};
use serde_json::Value;

use crate::{
    session::{Dir, walk},
    stores::samples,
};

/// Rows of 16 bytes.
fn rows(range: core::ops::Range<u32>) -> String {
    let lines: Vec<String> = range.map(|n| format!("{n},{n}.5\n")).collect();
    format!("id,px\n{}", lines.concat())
}

fn json(dir: &Dir, line: &str) -> Value {
    serde_json::from_slice(&dir.b2(line).ok().stdout)
        .unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn data_are_rows_times_item_size() {
    let dir = Dir::new();
    dir.write("r.csv", rows(0..3)).write("one.csv", rows(3..4));
    for table in ["r.b2z", "r.b2d", "r.bcolz"] {
        dir.b2(&format!("convert -q r.csv {table}")).ok();
        assert_eq!(json(&dir, &format!("list --json {table}"))["nbytes"], 48, "{table}");
        let info = dir.b2(&format!("info {table}")).ok().text().to_owned();
        assert!(info.contains("48 B ->"), "{table}: {info}");
        let tree = dir.b2(&format!("list --tree {table}")).ok().text().to_owned();
        assert!(table == "r.bcolz" || tree.contains(", 48 B ->"), "{table}: {tree}");
        let run = dir.b2(&format!("append {table} one.csv")).ok();
        let said = "16 B appended, now 64 B, 4 rows";
        assert!(run.stderr.contains(said), "{table}: {}", run.stderr);
        let appended = json(&dir, &format!("append --json {table} one.csv"));
        assert_eq!((&appended["appended"], &appended["nbytes"]), (&16.into(), &80.into()));
        let rescued = json(&dir, &format!("rescue --json {table} -o new-{table}"));
        assert_eq!(rescued["nbytes"], 80, "{table}: {rescued}");
        let stats = json(&dir, &format!("stats --json {table}"));
        assert_eq!(stats["nbytes"], 80, "{table}: {stats}");
    }
    // An array is summed by its items, and not as the chunk that they begin like.
    dir.write("a", walk(1000));
    dir.b2("c -q --dtype i4 --shape 10,100 --chunks 7,99 a -o a.b2nd").ok();
    dir.b2("c -q --dtype i4 --shape 10,100 --chunks 7,99 a -o s.b2z::/g/a").ok();
    dir.b2("convert -q r.csv s.b2z::/t").ok();
    assert_eq!(json(&dir, "list --json a.b2nd")["nbytes"], 4000);
    assert_eq!(json(&dir, "list --json s.b2z")["nbytes"], 4048);
    assert!(dir.b2("info s.b2z::/t").ok().text().contains("48 B ->"));
}

#[test]
fn room_for_more_rows_is_no_data() {
    let dir = samples(&["table-unclosed.b2d", "table-basic.b2z"]);
    let info = dir.b2("info table-unclosed.b2d").ok().text().to_owned();
    assert!(info.contains("64 rows     61 deleted or spare"), "{info}");
    let list = json(&dir, "list --json table-unclosed.b2d");
    let of_info = json(&dir, "info --json table-unclosed.b2d");
    assert_eq!((&list["nbytes"], &of_info["table"]["rows"]), (&of_info["nbytes"], &3.into()));
    assert!(list["nbytes"].as_u64().unwrap() < 200, "{list}");
    let rescued = json(&dir, "rescue --json table-unclosed.b2d -o r.b2d");
    assert_eq!(rescued["nbytes"], list["nbytes"]);
}

/// Parameters of a column's chunks: codec, level, filters, rows of a chunk and of a block.
fn made(dir: &Dir, store: &str, column: &str) -> (CodecId, u8, String, u32, u32) {
    let table = b2store::Store::open(dir.path(store)).unwrap();
    let array = match table.get(&format!("/_cols/{column}")).unwrap() {
        b2store::Content::Array(array) => array,
        other => panic!("{}", other.kind_name()),
    };
    let cparams = array.schunk().cparams();
    let rows = (array.chunkshape()[0], array.blockshape()[0]);
    (cparams.codec, cparams.clevel.get(), cparams.filters.to_string(), rows.0, rows.1)
}

#[test]
fn options_of_compression_are_obeyed_or_refused_for_tables() {
    let dir = Dir::new();
    dir.write("r.csv", rows(0..3000));
    dir.b2("convert -q r.csv r.bcolz").ok();
    dir.b2("convert -q r.csv r.b2z").ok();
    dir.b2("convert -q r.csv r.b2d").ok();
    let plain = made(&dir, "r.b2z", "px");
    assert_eq!((plain.0, plain.1), (CodecId::ZSTD, 5));
    type Is = fn(&(CodecId, u8, String, u32, u32)) -> bool;
    let options: [(&str, Is); 6] = [
        ("-C lz4", |made| made.0 == CodecId::LZ4),
        ("-9", |made| made.1 == 9),
        ("--fast", |made| made.0 == CodecId::LZ4),
        ("--filter bitshuffle", |made| made.2 == "bitshuffle"),
        ("--chunks 1000", |made| made.3 == 1000),
        ("--chunks 1000 --blocks 100", |made| (made.3, made.4) == (1000, 100)),
    ];
    let shown = dir.b2("show --csv r.b2z").ok().stdout;
    for (option, is) in options {
        for to in ["o.b2z", "o.b2d"] {
            for line in [
                "convert -q r.csv",
                "convert -q r.bcolz",
                "convert -q r.b2z",
                "convert -q r.b2d",
                "convert -q --columns id,px r.b2z",
                "convert -q --where px>=0 r.b2d",
                "recompress -q r.b2z -o",
            ] {
                let line = match line.strip_suffix(" -o") {
                    Some(_) if to == "o.b2d" => continue,
                    Some(line) => format!("{line} {option} -o {to}"),
                    None => format!("{line} {option} {to}"),
                };
                dir.b2(&line).ok();
                for column in ["id", "px"] {
                    let found = made(&dir, to, column);
                    assert!(is(&found), "{line}: {column}: {found:?}");
                }
                assert!(dir.b2(&format!("show --csv {to}")).ok().stdout == shown, "{line}");
                let path = dir.path(to);
                if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
                    .unwrap();
            }
        }
    }
    for table in ["r.b2z", "r.b2d"] {
        dir.b2(&format!("recompress -q -C lz4 -l 1 --chunks 500 {table}")).ok();
        let found = made(&dir, table, "id");
        assert_eq!((found.0, found.1, found.3), (CodecId::LZ4, 1, 500), "{table}");
        assert!(dir.b2(&format!("show --csv {table}")).ok().stdout == shown);
        dir.b2(&format!("verify {table}")).ok();
    }
    for line in [
        "convert r.csv x.b2z -z 1M",
        "convert r.csv x.b2z --block-size 1K",
        "convert r.csv x.b2z --chunks 10,10",
        "convert r.b2z x.b2d -z 1M",
        "convert --columns id r.b2z x.b2d --block-size 1K",
        "recompress -z 1M r.b2z",
        "recompress --chunks 3,3 r.b2d",
        "convert r.csv x.bcolz --block-size 1K",
    ] {
        assert_eq!(dir.b2(line).code, Some(2), "{line}");
    }
}

#[test]
fn a_store_is_recompressed_as_a_whole() {
    let dir = samples(&["tree-with-table.b2z", "table-basic.b2d", "dict-basic.b2z"]);
    dir.write("a", walk(1000));
    dir.b2("c -q --dtype i4 a -o tree-with-table.b2z::/more").ok();
    for store in ["tree-with-table.b2z", "table-basic.b2d", "dict-basic.b2z"] {
        // Indexes depend on the chunks, so a recompressed table lacks them.
        let sums = |name: &str| {
            let run = dir.b2(&format!("sum {name}")).ok();
            let lines = run.text().lines().filter(|line| !line.contains("/_indexes/"));
            lines.collect::<Vec<_>>().join("\n").replace(&format!("new-{store}"), store)
        };
        let before = sums(store);
        dir.b2(&format!("recompress -q -C zstd -9 {store} -o new-{store}")).ok();
        dir.b2(&format!("recompress -q -C zstd -9 {store}")).ok();
        for name in [store.to_owned(), format!("new-{store}")] {
            dir.b2(&format!("verify {name}")).ok();
            assert_eq!(sums(&name), before, "{name}");
        }
    }
    let array = dir.b2("info --json tree-with-table.b2z::/more").ok().text().to_owned();
    assert!(array.contains("\"zstd\""), "{array}");
}

fn dead(dir: &Dir, store: &str) -> u64 {
    json(dir, &format!("info --json {store}"))["dead_bytes"].as_u64().unwrap_or(0)
}

#[test]
fn dead_bytes_of_stores_are_told_and_go() {
    let dir = Dir::new();
    dir.write("r.csv", rows(0..2)).write("one.csv", rows(5..6));
    for table in ["t.b2z", "t.b2d"] {
        dir.b2(&format!("convert -q r.csv {table}")).ok();
        for _ in 0..24 {
            dir.b2(&format!("append -q {table} one.csv")).ok();
        }
        let run = dir.b2(&format!("append {table} one.csv")).ok();
        assert!(run.stderr.contains("are dead: `b2 repack` frees them"), "{}", run.stderr);
        let shown = dir.b2(&format!("show --csv {table}")).ok().stdout;
        assert!(dead(&dir, table) > 10_000);
        let copies = [
            ("convert -q", "n.b2z"),
            ("convert -q", "n.b2d"),
            (if table == "t.b2z" { "unpack -q" } else { "pack -q" }, "-o p.b2x"),
        ];
        for (command, to) in copies {
            dir.b2(&format!("{command} {table} {to}")).ok();
            let to = to.trim_start_matches("-o ");
            assert_eq!(dead(&dir, to), 0, "{command} {table} {to}");
            assert!(dir.b2(&format!("show --csv {to}")).ok().stdout == shown);
            let path = dir.path(to);
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
        let run = dir.b2(&format!("repack {table}")).ok();
        assert!(run.stderr.ends_with(" freed\n"), "{}", run.stderr);
        assert_eq!(dead(&dir, table), 0, "{table}");
        assert!(dir.b2(&format!("show --csv {table}")).ok().stdout == shown);
        dir.b2(&format!("verify {table}")).ok();
        assert_eq!(json(&dir, &format!("repack --json {table}"))["freed"], 0);
    }
    // A table and a value in a store; values removed from one frame.
    dir.b2("convert -q r.csv s.b2z::/ts").ok();
    for _ in 0..24 {
        dir.b2("append -q s.b2z::/ts one.csv").ok();
    }
    dir.b2("repack s.b2z::/ts").ok();
    assert_eq!(dead(&dir, "s.b2z"), 0);
}

#[test]
fn values_that_are_gone_from_one_frame_leave_no_bytes_after_a_repack() {
    let dir = samples(&["embed-basic.b2e"]);
    let (before, sum) = (dead(&dir, "embed-basic.b2e"), dir.b2("sum embed-basic.b2e").ok().stdout);
    assert!(before > 0);
    dir.b2("repack embed-basic.b2e").ok();
    assert_eq!(dead(&dir, "embed-basic.b2e"), 0);
    assert!(dir.b2("sum embed-basic.b2e").ok().stdout == sum);
    dir.b2("verify embed-basic.b2e").ok();
}

#[test]
fn repack_frees_the_rest_of_a_failed_append() {
    let dir = Dir::new();
    dir.write("a", walk(1000)).b2("c -q -t 4 a").ok();
    let frame = dir.read("a.b2frame");
    dir.write("a.b2frame", [&frame[..], &[0; 5000]].concat());
    let run = json(&dir, "repack --json a.b2frame");
    assert_eq!(run["freed"], 5000);
    assert!(dir.b2("cat a.b2frame").ok().stdout == walk(1000));
    assert_eq!(dir.read("a.b2frame").len(), frame.len());
}

#[test]
fn rows_come_again_and_again() {
    for sample in ["table-basic.b2d", "table-basic.b2z", "table-nulls-mask.b2d", "table-empty.b2z"]
    {
        let dir = samples(&[sample]);
        dir.b2(&format!("convert -q {sample} more.b2z")).ok();
        let nrows = json(&dir, &format!("info --json {sample}"))["table"]["rows"].as_u64().unwrap();
        for n in 1..5 {
            dir.b2(&format!("append -q {sample} more.b2z")).ok();
            let found = json(&dir, &format!("info --json {sample}"))["table"]["rows"].as_u64();
            assert_eq!(found, Some(nrows * (n + 1)), "{sample}");
            dir.b2(&format!("verify {sample}")).ok();
        }
        let shown = dir.b2(&format!("show --csv {sample}")).ok().stdout;
        let saved = format!("saved-{sample}");
        dir.b2(&format!("rescue -q {sample} -o {saved}")).ok();
        assert!(dir.b2(&format!("show --csv {saved}")).ok().stdout == shown);
        dir.b2(&format!("append -q {saved} more.b2z")).ok();
        dir.b2(&format!("append -q {saved} more.b2z")).ok();
        dir.b2(&format!("verify {saved}")).ok();
    }
}

/// An array whose chunks say LZ4 while its frame says Zstandard, which tells moved chunks from
/// recompressed ones.
fn odd_array(shape: &[u64], path: &std::path::Path) {
    let zstd = CParams::default().codec(CodecId::ZSTD);
    let params = NdParams::new(shape, "<i4".parse::<Dtype>().unwrap()).cparams(zstd);
    let params = params.chunkshape(&[10, 20]).blockshape(&[5, 20]);
    let mut writer = NdWriter::create(path, &params).unwrap();
    let items: Vec<u8> = (0..shape.iter().product::<u64>())
        .flat_map(|n| u32::try_from(n).unwrap().to_le_bytes())
        .collect();
    let lz4 = writer.cparams().clone().codec(CodecId::LZ4);
    writer.schunk_writer().set_cparams(lz4);
    writer.write_bytes(b2frame::nd::Selection::ALL, &items).unwrap();
    writer.finish().unwrap();
}

fn codec_of_chunk(path: &std::path::Path, nchunk: u64) -> CodecId {
    let schunk = SChunk::open(path).unwrap();
    let b2frame::ChunkBytes::Stored(bytes) = schunk.chunk(nchunk).unwrap() else { panic!("a run") };
    blosc_chunk::ChunkHeader::parse(&bytes).unwrap().codec_id()
}

#[test]
fn chunks_that_fit_are_appended_as_they_are() {
    let dir = Dir::new();
    for (axis, shape) in [(0, [20, 40]), (1, [20, 40])] {
        odd_array(&shape, &dir.path("base.b2nd"));
        odd_array(&shape, &dir.path("more.b2nd"));
        dir.b2(&format!("append -q --axis {axis} base.b2nd more.b2nd")).ok();
        let nchunks = SChunk::open(dir.path("base.b2nd")).unwrap().nchunks();
        assert_eq!(nchunks, 8);
        for nchunk in 0..nchunks {
            assert_eq!(codec_of_chunk(&dir.path("base.b2nd"), nchunk), CodecId::LZ4, "{axis}");
        }
        dir.b2("verify base.b2nd").ok();
        fs::remove_file(dir.path("base.b2nd")).unwrap();
        fs::remove_file(dir.path("more.b2nd")).unwrap();
    }
    // Frames without dimensions, with a seam inside of a chunk.
    dir.write("a", walk(2048)).b2("c -q -t 4 -z 4K a -o more.b2frame").ok();
    dir.b2("c -q -t 4 -z 4K -C zstd a -o base.b2frame").ok();
    let marked = dir.path("more.b2frame");
    let mut writer = b2frame::SChunkWriter::open(&marked).unwrap();
    writer.set_cparams(CParams::default().codec(CodecId::LZ4));
    let data = walk(2048);
    writer.update(0, &data[..4096]).unwrap();
    writer.finish().unwrap();
    dir.b2("append -q base.b2frame more.b2frame").ok();
    assert_eq!(codec_of_chunk(&dir.path("base.b2frame"), 2), CodecId::LZ4);
    assert!(dir.b2("cat base.b2frame").ok().stdout == data.repeat(2));
    dir.write("b", walk(10)).b2("append -q base.b2frame b").ok();
    dir.b2("append -q base.b2frame more.b2frame").ok();
    assert_eq!(codec_of_chunk(&dir.path("base.b2frame"), 4), CodecId::ZSTD);
    dir.b2("verify base.b2frame").ok();
}

#[test]
fn an_empty_series_can_start() {
    let dir = Dir::new();
    let header = |rows: u64| {
        let text = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({rows}, 5), }}");
        format!("\u{93}NUMPY\u{1}\0\x76\0{text:<117}\n")
    };
    let npy = |rows: u64| {
        let header: Vec<u8> = header(rows).chars().map(|c| c as u8).collect();
        [header, walk(usize::try_from(rows).unwrap() * 5)].concat()
    };
    dir.write("none.npy", npy(0)).write("two.npy", npy(2));
    for line in ["c -q none.npy -o e.b2nd --target blosc2-2.0", "convert -q none.npy e.b2nd"] {
        dir.b2(line).ok();
        let info = json(&dir, "info --json e.b2nd");
        assert!(!info["opens_with"].to_string().contains("3.0.0"), "{info}");
        dir.b2("append -q e.b2nd two.npy").ok();
        dir.b2("append -q e.b2nd two.npy").ok();
        assert_eq!(dir.b2("cat e.b2nd").ok().stdout, walk(10).repeat(2));
        fs::remove_file(dir.path("e.b2nd")).unwrap();
    }
}

#[test]
fn one_step_may_lack_the_dimension_that_grows() {
    let dir = Dir::new();
    dir.write("a", walk(24)).write("step", walk(12));
    dir.b2("c -q --dtype i4 --shape 2,3,4 a -o a.b2nd").ok();
    dir.b2("convert -q --dtype i4 --shape 3,4 step step.npy").ok();
    dir.b2("append -q a.b2nd step.npy").ok();
    assert_eq!(json(&dir, "info --json a.b2nd")["shape"], serde_json::json!([3, 3, 4]));
    dir.write("nine", walk(9)).b2("convert -q --dtype i4 --shape 3,3 nine plane.npy").ok();
    dir.b2("append -q --axis 2 a.b2nd plane.npy").ok();
    assert_eq!(json(&dir, "info --json a.b2nd")["shape"], serde_json::json!([3, 3, 5]));
    assert_eq!(dir.b2("append --axis 1 a.b2nd plane.npy").code, Some(1));
}

#[test]
fn the_first_run_of_a_job_makes_the_target() {
    let dir = Dir::new();
    dir.write("r.csv", rows(0..2)).write("a", walk(10));
    for target in ["t.b2z", "t.b2d", "t.bcolz", "a.b2frame"] {
        let input = if target == "a.b2frame" { "a" } else { "r.csv" };
        assert_ne!(dir.b2(&format!("append {target} {input}")).code, Some(0), "{target}");
        dir.b2(&format!("append -q --create {target} {input}")).ok();
        dir.b2(&format!("append -q --create {target} {input}")).ok();
    }
    assert_eq!(json(&dir, "info --json t.b2z")["table"]["rows"], 4);
    assert!(dir.b2("cat a.b2frame").ok().stdout == walk(10).repeat(2));
}

#[test]
fn columns_cells_and_rows_change() {
    let dir = Dir::new();
    dir.write("r.csv", "id,px,name\n1,1.5,a\n2,2.5,b\n3,3.5,c\n4,4.5,d\n");
    dir.b2("convert -q r.csv t.bcolz").ok();
    dir.b2("convert -q r.csv t.b2z").ok();
    dir.b2("convert -q r.csv t.b2d").ok();
    dir.b2("convert -q r.csv s.b2z::/g/t").ok();
    for table in ["t.b2z", "t.b2d", "s.b2z::/g/t", "t.bcolz"] {
        let show = || dir.b2(&format!("show --csv {table}")).ok().text().to_owned();
        dir.b2(&format!("table set {table} px=-1 --where id>2")).ok();
        dir.b2(&format!("table rename {table} px=price")).ok();
        dir.b2(&format!("table add {table} n:i4=7")).ok();
        let expected = "id,price,name,n\n1,1.5,a,7\n2,2.5,b,7\n3,-1.0,c,7\n4,-1.0,d,7\n";
        assert_eq!(show(), expected, "{table}");
        dir.b2(&format!("table drop {table} name")).ok();
        assert_eq!(show(), "id,price,n\n1,1.5,7\n2,2.5,7\n3,-1.0,7\n4,-1.0,7\n", "{table}");
        dir.b2(&format!("verify {table}")).ok();
        if table == "t.bcolz" {
            // Each refusal names a line that works.
            for (line, works) in [
                (
                    "delete t.bcolz --where id>2",
                    "convert --where 'not (CONDITION)' t.bcolz NEW.bcolz",
                ),
                (
                    "fill t.bcolz price=1",
                    "table set t.bcolz COLUMN=VALUE --where 'COLUMN != COLUMN'",
                ),
                ("set t.bcolz price", "table set t.bcolz COLUMN=VALUE --where 'COLUMN != COLUMN'"),
                ("add t.bcolz z:f8", "COLUMN:TYPE=VALUE"),
                ("compact t.bcolz", "b2 recompress"),
                ("set t.bcolz::/price price=1", ""),
            ] {
                let run = dir.b2(&format!("table {line}"));
                assert_eq!(run.code, Some(2), "{line}: {}", run.all());
                assert!(run.stderr.contains(works), "{line}: {}", run.stderr);
            }
            continue;
        }
        dir.b2(&format!("table add {table} note:text word:words=x gone:f8")).ok();
        dir.b2(&format!("table set {table} note=why word=y --where id==2")).ok();
        dir.b2(&format!("table fill {table} note=none gone=0.5")).ok();
        let expected = "id,price,n,note,word,gone\n1,1.5,7,none,x,0.5\n2,2.5,7,why,y,0.5\n\
                        3,-1.0,7,none,x,0.5\n4,-1.0,7,none,x,0.5\n";
        assert_eq!(show(), expected, "{table}");
        let run = dir.b2(&format!("table delete {table} --where (id==1)|(id==3)")).ok();
        assert!(run.stderr.contains("2 rows deleted"), "{}", run.stderr);
        let expected = "id,price,n,note,word,gone\n2,2.5,7,why,y,0.5\n4,-1.0,7,none,x,0.5\n";
        assert_eq!(show(), expected, "{table}");
        dir.b2(&format!("table compact {table}")).ok();
        assert_eq!(show(), expected, "{table}");
        let info = json(&dir, &format!("info --json {table}"));
        assert_eq!((&info["table"]["rows"], &info["table"]["capacity"]), (&2.into(), &2.into()));
        dir.b2(&format!("table set {table} gone")).ok();
        assert!(show().ends_with("4,-1.0,7,none,x,\n"), "{table}: {}", show());
        dir.b2(&format!("verify {table}")).ok();
    }
    for line in [
        "table set t.b2z",
        "table set t.b2z nope=1",
        "table set t.b2z id=x",
        "table drop t.b2z nope",
        "table rename t.b2z id=n",
        "table add t.b2z n:i4=1",
        "table delete t.b2z",
        "table compact t.b2z id",
        "table fill r.csv id=1",
    ] {
        assert!(matches!(dir.b2(line).code, Some(1 | 2)), "{line}");
    }
}

#[test]
fn columns_of_objects_are_left_out_with_a_warning() {
    let dir = Dir::new();
    crate::bcolz::copy(
        &blosc_testdata::fixture::path("bcolz/ct_object_column"),
        &dir.path("o.bcolz"),
    );
    for line in [
        "convert o.bcolz n.bcolz",
        "convert o.bcolz n.npy",
        "convert o.bcolz n.csv",
        "sum o.bcolz",
        "stats o.bcolz",
        "diff o.bcolz o.bcolz",
    ] {
        let run = dir.b2(line);
        assert_eq!(run.code, Some(4), "{line}: {}", run.stderr);
        assert!(run.stderr.contains("column"), "{line}: {}", run.stderr);
    }
    assert!(dir.path("n.bcolz").is_dir() && dir.path("n.npy").is_file());
    // A store can hold them, and a change in place loses nothing.
    dir.b2("convert -q o.bcolz n.b2z").ok();
    let run = dir.b2("recompress -C zstd o.bcolz").ok();
    assert!(run.stderr.contains("\"o\" holds Python objects"), "{}", run.stderr);
    dir.b2("verify o.bcolz").ok();
}

/// Errors about values that do not fit use plain words, and a line number only if there are lines.
#[test]
fn a_value_that_does_not_fit_is_told_in_plain_words() {
    let dir = Dir::new();
    dir.write("r.csv", rows(0..3));
    for table in ["r.b2z", "r.bcolz"] {
        dir.b2(&format!("convert -q r.csv {table}")).ok();
        for (cell, said) in [
            ("px=abc", "column \"px\": \"abc\" is no number"),
            ("id=1.5", "column \"id\": \"1.5\" is no integer"),
        ] {
            let run = dir.b2(&format!("table set {table} {cell}"));
            assert_eq!(run.code, Some(2), "{table} {cell}: {}", run.stderr);
            assert!(run.stderr.contains(said), "{table} {cell}: {}", run.stderr);
            assert!(!run.stderr.contains("line"), "{table} {cell}: {}", run.stderr);
        }
        dir.write("bad.csv", "id,px\nx,1.5\n");
        let run = dir.b2(&format!("append {table} bad.csv"));
        let said = "line 2, column \"id\": \"x\" is no integer\n";
        assert!(run.stderr.contains(said), "{table}: {}", run.stderr);
        // The header is a single name, since semicolons separate.
        dir.write("semi.csv", "id;px\n1;1.5\n");
        let run = dir.b2(&format!("append {table} semi.csv"));
        let hint = "`b2 convert --delimiter ';'` separates them";
        assert!(run.code == Some(1) && run.stderr.contains(hint), "{table}: {}", run.stderr);
    }
}

#[test]
fn columns_that_gaps_make_text_are_told() {
    let dir = Dir::new();
    for (gap, n) in [("NA", 0), ("null", 1), ("", 2)] {
        let lines = format!("b,n,x\ntrue,1,9007199254740993\n{gap},{gap},{gap}\nfalse,2,3\n");
        dir.write("gaps.csv", lines);
        let run = dir.b2(&format!("convert gaps.csv gaps{n}.bcolz")).ok();
        let said = "column \"b\" is text: some lines have no value for it, and truth values";
        assert!(run.stderr.contains(said), "{gap}: {}", run.stderr);
        assert!(run.stderr.contains("column \"x\" is text: some lines"), "{gap}: {}", run.stderr);
        assert!(!run.stderr.contains("column \"n\""), "{gap}: {}", run.stderr);
    }
}

#[test]
fn rows_are_cut_out_of_tables_of_every_kind() {
    let dir = Dir::new();
    dir.write("r.csv", rows(0..10));
    for table in ["r.csv", "r.bcolz", "r.b2z", "r.b2d"] {
        if table != "r.csv" {
            dir.b2(&format!("convert -q r.csv {table}")).ok();
        }
        for (slice, wanted) in [("2:5", 2..5), ("-3:", 7..10), ("4", 4..5), ("5:5", 5..5)] {
            dir.b2(&format!("convert -qf --slice={slice} {table} -o out.b2z")).ok();
            let text = dir.b2("show --csv out.b2z").ok().text().to_owned();
            assert_eq!(text, rows(wanted), "{table} {slice}");
        }
    }
    assert_eq!(dir.b2("convert -qf --slice ::2 r.b2z -o out.b2z").code, Some(2));
}

#[test]
fn a_slice_counts_the_rows_that_a_condition_keeps() {
    let dir = Dir::new();
    let rows: String = (0..100).map(|n| format!("{n},{}\n", n % 10)).collect();
    dir.write("t.csv", format!("a,b\n{rows}"));
    for output in ["t.bcolz", "t.b2z", "t.npy"] {
        dir.b2(&format!("convert -q t.csv {output}")).ok();
    }
    for (part, found) in [
        ("--slice 1:3", &["13", "23"][..]),
        ("--slice=-2:", &["83", "93"]),
        ("--slice=-1", &["93"]),
        ("--slice 8:20", &["83", "93"]),
        ("--slice 10:", &[]),
        ("--slice 1:8 --skip 1 -n 2", &["23", "33"]),
        ("--tail 2", &["83", "93"]),
    ] {
        for input in ["t.csv", "t.bcolz", "t.b2z", "t.npy"] {
            let run = dir.b2(&format!("show --csv --columns a --where b==3 {part} {input}")).ok();
            let shown: Vec<&str> = run.text().lines().skip(1).collect();
            assert_eq!(shown, found, "{part} {input}");
            if part.contains("--skip") || part.contains("--tail") || found.is_empty() {
                continue;
            }
            let line = format!("convert -f -q --columns a --where b==3 {part} {input} -o new.csv");
            dir.b2(&line).ok();
            let written = String::from_utf8(dir.read("new.csv")).unwrap();
            assert_eq!(written.lines().skip(1).collect::<Vec<_>>(), found, "{line}");
            // A single item needs no line number.
            if found.len() == 1 {
                continue;
            }
            let line = format!("plot --json --columns a --where b==3 {part} {input}");
            let plot = json(&dir, &line);
            let ends = [&plot["min"], &plot["max"]].map(|end| end.as_f64().unwrap().to_string());
            assert_eq!([&*ends[0], &*ends[1]], [found[0], found[found.len() - 1]], "{line}");
        }
    }
    let run = dir.b2("show --where b==3 --slice ::2 t.b2z");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

#[test]
fn truth_values_that_are_missing_in_text_are_nulls_of_a_store() {
    let dir = Dir::new();
    dir.write("t.csv", "id,ok\n1,True\n2,\n3,False\n4,NA\n");
    dir.write("more.csv", "id,ok\n5,\n6,true\n");
    for store in ["t.b2z", "t.b2d"] {
        let said = dir.b2(&format!("convert --verify t.csv {store}")).ok().stderr;
        assert!(!said.contains("warning"), "{said}");
        dir.b2(&format!("append -q {store} more.csv")).ok();
        let rows = "id,ok\n1,True\n2,\n3,False\n4,\n5,\n6,True\n";
        assert_eq!(dir.b2(&format!("show --csv {store}")).ok().text(), rows);
        for (condition, ids) in [("ok", "1 6"), ("ok is null", "2 4 5"), ("ok == False", "3")] {
            let mut show = dir.command("show --csv --columns id --where");
            let run = crate::session::Run::of(show.args([condition, store]).output().unwrap()).ok();
            let found: Vec<&str> = run.text().lines().skip(1).collect();
            assert_eq!(found.join(" "), ids, "{condition}");
        }
    }
    let mut convert = dir.command("convert -q --where");
    let run = convert.args(["ok == False", "t.csv", "some.b2z"]).output().unwrap();
    crate::session::Run::of(run).ok();
    assert_eq!(dir.b2("show --csv some.b2z").ok().text(), "id,ok\n3,False\n");
    let run = dir.b2("convert t.csv t.bcolz");
    assert!(run.stderr.contains("truth values cannot be missing"), "{}", run.stderr);
}

/// Several changes are one step: the condition sees the old table, and one impossible change stops
/// all.
#[test]
fn all_changes_of_a_command_are_made_or_none() {
    let dir = Dir::new();
    dir.write("p.csv", "day,px,note\n1,2.5,a\n2,-1,b\n");
    for table in ["p.b2z", "p.b2d", "p.bcolz"] {
        dir.b2(&format!("convert -q p.csv {table}")).ok();
        let before = dir.b2(&format!("show --csv {table}")).ok();
        for line in [
            "set % px=1 nosuch=2",
            "set % px=1 day=abc",
            "rename % px=px",
            "rename % px=x day=x",
            "rename % px=x nosuch=y",
            "drop % px px",
            "drop % px nosuch",
            "add % x:i4=1 y:badtype=2",
            "add % x:i4=1 x:i4=2",
            "add % x:i4=1 day:i4=2",
        ] {
            let run = dir.b2(&format!("table {}", line.replace('%', table)));
            assert!(matches!(run.code, Some(1 | 2)), "{table}, {line}: {}", run.all());
            let after = dir.b2(&format!("show --csv {table}")).ok();
            assert_eq!(after.text(), before.text(), "{table}, {line}");
            dir.b2(&format!("verify {table}")).ok();
        }
        dir.b2(&format!("table set {table} px=0 note=X --where px<0")).ok();
        let after = dir.b2(&format!("show --csv {table}")).ok();
        assert_eq!(after.text(), "day,px,note\n1,2.5,a\n2,0.0,X\n", "{table}");
        dir.b2(&format!("table rename {table} px=price day=px")).ok();
        dir.b2(&format!("table add {table} x:i4=1 y:f8=2.5")).ok();
        dir.b2(&format!("table drop {table} note px")).ok();
        let after = dir.b2(&format!("show --csv {table}")).ok();
        assert_eq!(after.text(), "price,x,y\n2.5,1,2.5\n0.0,1,2.5\n", "{table}");
        dir.b2(&format!("verify {table}")).ok();
    }
}

/// Arrays of items with fields are tables in every format.
#[test]
fn rows_and_columns_of_arrays_with_fields_are_converted() {
    let dir = Dir::new();
    dir.write("t.csv", "id,x\n1,2.5\n2,3\n3,4\n").b2("convert -q t.csv t.npy").ok();
    for name in ["t.npy", "t.b2nd", "t.blp", "t.sframe", "t.bcolz", "t.b2z"] {
        if name != "t.npy" {
            dir.b2(&format!("convert -q t.npy {name}")).ok();
        }
        for output in ["new.npy", "new.b2nd", "new.b2z", "new.csv"] {
            let line = format!("convert -qf --where id<3 --columns x,id {name} -o {output}");
            dir.b2(&line).ok();
            let shown = dir.b2(&format!("show --csv {output}")).ok();
            assert_eq!(shown.text().replace(".0", ""), "x,id\n2.5,1\n3,2\n", "{line}");
        }
    }
    dir.b2("meta set t.b2nd units=m").ok();
    dir.b2("convert -qf --where id<3 t.b2nd -o new.b2nd").ok();
    assert!(dir.b2("meta get new.b2nd").ok().text().contains("units"));
    dir.write("raw", walk(4)).b2("c -q --dtype i4 raw -o raw.b2nd").ok();
    assert_eq!(dir.b2("convert -f --where id<3 raw.b2nd -o new.npy").code, Some(2));
}

/// Kinds of columns that can have nulls, and a value of each.
const NULLABLE: [(&str, &str); 8] = [
    ("i8", "-5"),
    ("u2", "7"),
    ("f4", "2.5"),
    ("b1", "true"),
    ("U3", "abc"),
    ("text", "longer"),
    ("words", "word"),
    ("M8[s]", "2020-01-02T03:04:05"),
];

/// A null, an empty value of CSV, and `null` in JSON are one thing where a column can have nulls.
#[test]
fn nulls_come_back_through_csv() {
    for store in ["n.b2z", "n.b2d"] {
        let dir = Dir::new();
        dir.write("k.csv", "k\n1\n2\n");
        dir.b2(&format!("convert -q k.csv {store}")).ok();
        for (n, (kind, value)) in NULLABLE.iter().enumerate() {
            dir.b2(&format!("table add -q {store} c{n}:{kind}")).ok();
            let mut set = dir.command(&format!("table set -q {store} c{n}={value} --where"));
            assert!(set.arg("k == 1").status().unwrap().success(), "{kind}");
        }
        dir.b2(&format!("convert -q {store} n.csv")).ok();
        dir.b2(&format!("diff {store} n.csv")).ok();
        dir.b2(&format!("diff n.csv {store}")).ok();
        dir.b2(&format!("append -q {store} n.csv")).ok();
        let shown = dir.b2(&format!("show --json {store}")).ok().text().to_owned();
        let rows: Vec<&str> = shown.lines().collect();
        assert_eq!(rows[..2], rows[2..], "{shown}");
        assert_eq!(rows[3].matches("null").count(), NULLABLE.len(), "{shown}");
        dir.b2(&format!("verify {store}")).ok();
        // An empty value sets null as well, but for text, which can be empty.
        for (n, (kind, _)) in NULLABLE.iter().enumerate() {
            dir.b2(&format!("table set -q {store} c{n}=")).ok();
            let run = dir.b2(&format!("show --json --columns c{n} -n 1 {store}")).ok();
            let expected = match *kind {
                "U3" | "text" | "words" => "\"\"",
                _ => "null",
            };
            assert!(run.text().contains(&format!(":{expected}}}")), "{kind}: {}", run.text());
        }
    }
}

/// Zero, NaN and empty text are values.
#[test]
fn a_null_differs_from_every_value() {
    let dir = Dir::new();
    dir.write("k.csv", "k\n1\n");
    for (kind, value) in [("i8", "0"), ("f4", "nan"), ("b1", "false"), ("text", "")] {
        for (store, cell) in [("a.b2z", String::new()), ("b.b2z", format!("={value}"))] {
            dir.b2(&format!("convert -qf k.csv {store}")).ok();
            dir.b2(&format!("table add -q {store} c:{kind}")).ok();
            dir.b2(&format!("table set -q {store} c{cell}")).ok();
        }
        let run = dir.b2("diff a.b2z b.b2z");
        assert_eq!(run.code, Some(1), "{kind}: {}", run.all());
        dir.b2("diff a.b2z a.b2z").ok();
        if kind != "text" {
            dir.write("c.csv", format!("k,c\n1,{value}\n"));
            assert_eq!(dir.b2("diff a.b2z c.csv").code, Some(1), "{kind}");
            dir.b2("diff b.b2z c.csv").ok();
        }
    }
}

#[test]
fn a_value_that_is_missing_is_refused_where_there_are_no_nulls() {
    let dir = Dir::new();
    dir.write("r.csv", rows(0..3)).write("gap.csv", "id,px\n,1.5\n");
    for table in ["r.b2z", "r.bcolz"] {
        dir.b2(&format!("convert -q r.csv {table}")).ok();
        let run = dir.b2(&format!("append {table} gap.csv"));
        assert!(run.stderr.contains("line 2, column \"id\": \"\" is no integer"), "{}", run.all());
    }
}

#[test]
fn text_of_deleted_rows_is_no_data() {
    let dir = Dir::new();
    let text = "q".repeat(1000);
    dir.write("w.csv", "k\n1\n2\n3\n4\n");
    for store in ["w.b2z", "w.b2d"] {
        dir.b2(&format!("convert -q w.csv {store}")).ok();
        dir.b2(&format!("table add -q {store} x:text={text}")).ok();
        let nbytes =
            |command: &str| json(&dir, &format!("{command} --json {store}"))["nbytes"].clone();
        assert_eq!(nbytes("list"), 4 * (8 + 8 + 1000));
        // The last row, one in the middle, and all.
        for (row, left) in [("4", 3), ("2", 2)] {
            let mut delete = dir.command(&format!("table delete -q {store} --where"));
            assert!(delete.arg(format!("k=={row}")).status().unwrap().success());
            for command in ["list", "info", "stats"] {
                assert_eq!(nbytes(command), left * (8 + 8 + 1000), "{store}: {command}");
            }
        }
        dir.b2(&format!("table compact -q {store}")).ok();
        assert_eq!(nbytes("list"), 2 * (8 + 8 + 1000));
    }
}
