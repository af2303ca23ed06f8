//! `b2 repack`: removes bytes that nothing refers to, and keeps the data.

use crate::session::{Dir, Run, snapshot, walk};

#[test]
fn dead_bytes_go_and_the_data_stay() {
    let dir = Dir::new();
    let data = walk(10_000);
    dir.write("a", &data[..4_000]).b2("c -q -t 4 -z 4K a").ok();
    for piece in data[4_000..].chunks(4_000) {
        dir.write("more", piece).b2("append -q a.b2frame more").ok();
    }
    dir.b2("meta set a.b2frame unit=K").ok();
    let before = dir.read("a.b2frame").len();
    let run = dir.b2("repack a.b2frame").ok();
    assert!(run.stderr.ends_with(" freed\n"), "{}", run.stderr);
    assert!(dir.read("a.b2frame").len() < before);
    assert!(dir.b2("cat a.b2frame").ok().stdout == data);
    assert_eq!(dir.b2("meta get a.b2frame").ok().text(), "unit  \"K\"\n");
    let info: serde_json::Value =
        serde_json::from_slice(&dir.b2("info --json a.b2frame").ok().stdout).unwrap();
    assert_eq!(info["dead_bytes"], 0);
    let again: serde_json::Value =
        serde_json::from_slice(&dir.b2("compact --json a.b2frame").ok().stdout).unwrap();
    assert_eq!((&again["schema"], &again["freed"]), (&"b2.repack/1".into(), &0.into()));
    assert_eq!(dir.names(), ["a", "a.b2frame", "more"]);
}

#[test]
fn files_that_a_sparse_frame_does_not_name_go() {
    let dir = Dir::new();
    let data = walk(3_000);
    dir.write("a", &data).b2("c -q -t 4 -z 4K a").ok();
    dir.b2("convert -q a.b2frame a.sframe").ok();
    dir.write("a.sframe/000000FF.chunk", "left behind");
    dir.b2("repack a.sframe").ok();
    assert!(!dir.path("a.sframe/000000FF.chunk").exists());
    assert!(dir.b2("cat a.sframe").ok().stdout == data);
}

#[test]
fn only_whole_frames_are_repacked() {
    let dir = Dir::new();
    dir.write("a", walk(100)).b2("c -q -t 4 a").ok();
    let frame = dir.read("a.b2frame");
    dir.write("both", [&frame[..], &frame[..]].concat());
    snapshot!(dir.b2("repack a.b2frame@0"), @"
    exit 2
    --- stdout
    --- stderr
    b2: a.b2frame@0: a part of a file, which cannot be repacked in place
    hint: use `b2 convert FILE#N` to make a new file of one frame
    ");
    dir.b2("c -q --format chunk a -o a.chunk").ok();
    assert_eq!(dir.b2("repack a.chunk").code, Some(2));
    assert!(dir.read("both") == [&frame[..], &frame[..]].concat());
}

#[test]
fn a_sequence_becomes_one_frame() {
    let dir = Dir::new();
    dir.write("a", walk(100)).b2("c -q -t 4 a").ok();
    let frame = dir.read("a.b2frame");
    let both = walk(100).repeat(2);
    dir.write("both", [&frame[..], &frame[..]].concat());
    dir.write("junk", [&frame[..], &frame[..], b"junk"].concat());
    snapshot!(dir.b2("show --dtype i4 --slice=-2: both"), @"
    exit 0
    --- stdout
    [1048535 1048544]
    --- stderr
    ");
    let shown = dir.b2("show --csv --dtype i4 --slice=98:102 both").ok();
    assert_eq!(shown.text().lines().count(), 5, "{}", shown.text());
    dir.b2("convert -q both one.blp").ok();
    assert!(dir.b2("cat one.blp").ok().stdout == both);
    dir.b2("append -q a.b2frame both").ok();
    assert!(dir.b2("cat a.b2frame").ok().stdout == walk(100).repeat(3));
    dir.b2("append -q both a").ok();
    assert!(dir.b2("cat both#0").ok().stdout == walk(100).repeat(3));
    dir.write("both", [&frame[..], &frame[..]].concat());
    dir.b2("repack both").ok();
    assert!(dir.b2("cat both#0").ok().stdout == both);
    assert_eq!(dir.b2("repack junk").code, Some(1));
    dir.b2("c -q --dtype i4 a -o a.b2nd").ok();
    let array = dir.read("a.b2nd");
    dir.write("arrays", [&array[..], &array[..]].concat());
    assert_eq!(dir.b2("convert arrays x.blp").code, Some(2));
    assert_eq!(dir.read("junk").len(), 2 * frame.len() + 4);
}

#[test]
fn bcolz_and_bloscpack_lose_what_interrupted_changes_left() {
    let dir = Dir::new();
    dir.write("t.csv", "id,x\n1,2\n3,4\n").write("a", walk(100));
    dir.b2("convert -q t.csv t.bcolz").ok();
    dir.b2("c -q --format blp a").ok();
    let blp = dir.read("a.blp");
    let sums = [dir.b2("sum t.bcolz").ok().stdout, dir.b2("sum a.blp").ok().stdout];
    dir.write("t.bcolz/id/data/__7.blp", &blp).write("t.bcolz/x/meta/.sizes.b2tmp-abcdef", "{}");
    dir.write("a.blp", [&blp[..], b"no chunk"].concat());
    for (name, dead) in [("t.bcolz", blp.len() + 2), ("a.blp", 8), ("t.bcolz", 0), ("a.blp", 0)] {
        let report = dir.b2(&format!("repack --json {name}")).ok();
        assert!(report.text().ends_with(&format!("\"freed\":{dead}}}\n")), "{name}");
        let said = dir.b2(&format!("verify {name}")).ok();
        assert!(!said.all().contains("warning"), "{name}: {}", said.all());
    }
    assert_eq!([dir.b2("sum t.bcolz").ok().stdout, dir.b2("sum a.blp").ok().stdout], sums);
    assert!(dir.read("a.blp") == blp);
    // A file that follows the first is not waste.
    for after in [&blp[..], b"\x93NUMPY\x01\x00", b"PK\x03\x04more"] {
        dir.write("two.blp", [&blp[..], after].concat());
        assert_eq!(dir.b2("repack two.blp").code, Some(2));
        assert!(dir.read("two.blp") == [&blp[..], after].concat());
    }
}

/// A change that leaves many dead bytes reports them, and a repack frees them.
#[test]
fn changes_that_leave_dead_bytes_say_so() {
    let dir = Dir::new();
    dir.write("a", walk(100)).b2("c -q -t 4 a").ok();
    dir.b2("c -q --dtype i4 a -o a.b2nd").ok();
    dir.b2("convert -q a.b2nd v.b2z").ok();
    // Text that does not compress to almost nothing.
    let text: String = walk(30_000).chunks(4).map(|item| format!("{:x}", item[0])).collect();
    for (object, file) in [("a.b2frame", "a.b2frame"), ("a.b2nd", "a.b2nd"), ("v.b2z::/a", "v.b2z")]
    {
        let said: Vec<bool> = (0..6)
            .map(|n| {
                let run =
                    dir.command(&format!("meta set {object}")).arg(format!("x={n}{text}")).output();
                let run = Run::of(run.unwrap()).ok();
                run.stderr.contains("are dead: `b2 repack` frees them")
            })
            .collect();
        assert!(said.contains(&true), "{object}");
        let len = dir.read(file).len();
        dir.b2(&format!("repack -q {file}")).ok();
        assert!(dir.read(file).len() < len, "{object}");
        assert!(
            !dir.b2(&format!("meta set {object} y=1")).ok().stderr.contains("dead"),
            "{object}"
        );
    }
}

/// Bytes that an interrupted append left after an array go; a file that follows it stays.
#[test]
fn an_array_of_numpy_loses_what_follows_it() {
    let dir = Dir::new();
    dir.write("w", walk(100)).b2("convert -q --dtype i4 w a.npy").ok();
    let whole = dir.read("a.npy");
    for (tail, code, freed) in [
        (&b"1234567"[..], 0, Some("7 B freed")),
        (&b""[..], 0, Some("0 B freed")),
        (&whole, 2, None),
    ] {
        let given = [&whole[..], tail].concat();
        dir.write("b.npy", &given);
        let run = dir.b2("repack b.npy");
        assert_eq!(run.code, Some(code), "{}", run.all());
        assert!(freed.is_none_or(|freed| run.stderr.contains(freed)), "{}", run.stderr);
        assert!(dir.read("b.npy") == if code == 0 { whole.clone() } else { given });
    }
    dir.write("b.npy", &whole[..200]);
    assert_eq!(dir.b2("repack b.npy").code, Some(1));
    assert_eq!(dir.read("b.npy").len(), 200);
}
