//! `b2 tune` and `b2 bench`: they measure the user's data, and the printed command works.

use crate::session::{Dir, walk};

fn data() -> Dir {
    let dir = Dir::new();
    dir.write("w.i32", walk(50_000));
    dir.b2("c -q --dtype <i4 --shape 500,100 w.i32 -o w.b2nd").ok();
    dir.b2("c -q w.i32").ok();
    dir
}

#[test]
fn tune_prints_a_command_that_makes_a_file_smaller() {
    let dir = data();
    for name in ["w.i32.b2frame", "w.b2nd", "w.i32"] {
        let run = dir.b2(&format!("tune --goal ratio {name}")).ok();
        assert!(run.text().contains("items of 4 bytes"), "{}", run.text());
        assert!(run.text().contains("<- ratio"), "{}", run.text());
        let command = run.text().lines().last().unwrap().strip_prefix("b2 ").unwrap();
        let before = dir.b2(&format!("sum {name}")).ok().text()[..64].to_owned();
        let len = dir.read(name).len();
        dir.b2(&format!("{command} -q -f")).ok();
        assert!(dir.read(name).len() <= len, "{command}");
        assert_eq!(dir.b2(&format!("sum {name}")).ok().text()[..64], before);
    }
    dir.b2("diff w.b2nd w.i32").ok();
}

#[test]
fn tune_documents_its_evidence() {
    let dir = data();
    let run = dir.b2("tune --json --goal speed --sample 64K w.i32").ok();
    for key in [
        "\"schema\":\"b2.tune/1\"",
        "\"sampled\":65536",
        "\"typesize\":4",
        "\"best\":[{\"codec\"",
        "\"command\":\"b2 compress -t 4 ",
    ] {
        assert!(run.text().contains(key), "{key} {}", run.text());
    }
    let piped = dir.b2_with("tune", &dir.read("w.b2nd")).ok();
    assert!(piped.text().contains("b2 recompress"), "{}", piped.text());
}

#[test]
fn item_sizes_divide_the_length() {
    let dir = Dir::new();
    dir.write("odd", &walk(5_000)[..19_999]);
    let run = dir.b2("tune odd").ok();
    assert!(run.text().contains("items of 1 byte "), "{}", run.text());
}

#[test]
fn bench_measures_every_combination() {
    let dir = data();
    let run =
        dir.b2("bench --rounds 1 -C lz4,zstd -l 1,9 --filter shuffle --filter none w.b2nd").ok();
    let lines: Vec<_> = run.text().lines().collect();
    assert_eq!(lines.len(), 10, "{}", run.text());
    assert!(lines[2].ends_with("shuffle -> lz4 level 1"), "{}", lines[2]);
    assert!(lines[9].ends_with("none -> zstd level 9"), "{}", lines[9]);
    let run = dir.b2("bench --json --rounds 1 -l 5 w.i32").ok();
    assert!(run.text().contains("\"schema\":\"b2.bench/1\""), "{}", run.text());
    assert_eq!(run.text().matches("\"cratio\"").count(), 2);
    assert_eq!(dir.b2("bench missing").code, Some(3));
    dir.write("empty", "");
    assert_eq!(dir.b2("bench -C nothing w.i32").code, Some(2));
}
