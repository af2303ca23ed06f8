//! Lossy codecs and filters: only on request, for fitting types, with a measured loss, and never
//! applied twice.

use crate::session::{Dir, snapshot};

/// A wave of `nitems` numbers.
fn wave(nitems: u32) -> Vec<u8> {
    let value = |n: u32| (f64::from(n) / 50.0).sin() * 100.0 + f64::from(n % 7) / 10.0;
    (0..nitems).flat_map(|n| value(n).to_le_bytes()).collect()
}

/// The largest difference of two lists of numbers.
fn largest(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len());
    let numbers = |bytes: &[u8]| -> Vec<f64> {
        bytes.chunks_exact(8).map(|item| f64::from_le_bytes(item.try_into().unwrap())).collect()
    };
    let pairs = numbers(a).into_iter().zip(numbers(b));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn lossy_codecs_need_the_option_lossy() {
    let dir = Dir::new();
    dir.write("a.f64", wave(1000));
    snapshot!(dir.b2("c -C zfp_acc:-1 --dtype f8 a.f64"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: the codec zfp_acc loses data
    hint: use --lossy if this is meant
    ");
    dir.b2("c -q --dtype f8 a.f64 -o a.b2nd").ok();
    snapshot!(dir.b2("convert -C zfp_prec:10 --filter none a.b2nd b.b2nd"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: the codec zfp_prec loses data, and conversions do not
    hint: use `b2 cat` and `b2 compress --lossy`
    ");
    assert_eq!(dir.names(), ["a.b2nd", "a.f64"]);
}

#[test]
fn loss_is_measured_and_reported() {
    let dir = Dir::new();
    let data = wave(5000);
    dir.write("a.f64", &data);
    for options in ["-C zfp_acc:-1", "-C zfp-rate:20", "--filter trunc:12,shuffle"] {
        for (line, input) in [("a.f64 -o a.b2nd", &[][..]), ("-o a.b2nd --shape 100,50", &data)] {
            let line = format!("c -f --json --lossy {options} --dtype f8 {line}");
            let run = if input.is_empty() { dir.b2(&line) } else { dir.b2_with(&line, input) };
            let report: serde_json::Value = serde_json::from_str(run.ok().text()).unwrap();
            let error = largest(&data, &dir.b2("cat a.b2nd").ok().stdout);
            assert_eq!(report["largest_error"].as_f64(), Some(error), "{options}");
            let mean = report["mean_error"].as_f64().unwrap();
            assert!(0.0 < mean && mean < error && error < 60.0, "{options}: {mean} {error}");
        }
    }
    // Frames in a pipe are measured one by one.
    let run = dir.b2("c -c --lossy --filter trunc:12,shuffle a.f64").ok();
    assert!(run.stderr.contains("largest error 0.0"), "{}", run.stderr);
    let run = dir.b2("c -f --lossy -C zfp_acc:-2 --dtype f8 a.f64 -o a.b2nd").ok();
    assert!(run.stderr.contains("largest error "), "{}", run.stderr);
}

#[test]
fn arrays_in_fortran_order_are_measured_item_by_item() {
    let dir = Dir::new();
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    npy.extend(b"{'descr': '<f8', 'fortran_order': True, 'shape': (20, 50), }");
    npy.resize(127, b' ');
    npy.push(b'\n');
    npy.extend(wave(1000));
    dir.write("f.npy", npy);
    let run = dir.b2("c --json --lossy --filter trunc:30,shuffle f.npy").ok();
    let report: serde_json::Value = serde_json::from_str(run.text()).unwrap();
    assert!(report["largest_error"].as_f64().unwrap() < 1e-6, "{report}");
}

#[test]
fn filters_before_a_lossy_codec_are_off_and_refused() {
    let dir = Dir::new();
    dir.write("a.f64", wave(5000));
    dir.b2("c -q --lossy -C zfp_acc:-1 --dtype f8 a.f64 -o a.b2nd").ok();
    let info = dir.b2("info --json a.b2nd").ok();
    assert!(info.text().contains(r#""filters":[]"#), "{}", info.text());
    snapshot!(dir.b2("c --lossy -C zfp_acc:-1 --filter shuffle --dtype f8 a.f64"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: the codec zfp_acc compresses numbers, and filters before it would change them
    hint: leave out --filter
    ");
}

#[test]
fn accuracies_are_powers_of_ten_and_other_codecs_have_no_parameter() {
    let dir = Dir::new();
    let data = wave(5000);
    dir.write("a.f64", &data);
    for (accuracy, bound) in [("1", 10.0), ("-2", 0.01), ("254", 0.01)] {
        dir.b2(&format!("c -qf --lossy -C zfp_acc:{accuracy} --dtype f8 a.f64 -o a.b2nd")).ok();
        let error = largest(&data, &dir.b2("cat a.b2nd").ok().stdout);
        assert!(error > 0.0 && error <= bound, "{accuracy}: {error}");
    }
    for codec in ["zfp_acc:-200", "zstd:3", "lz4:1"] {
        let run = dir.b2(&format!("c --lossy -C {codec} a.f64"));
        assert_eq!(run.code, Some(2), "{}", run.stderr);
    }
}

#[test]
fn rows_that_are_there_lose_nothing_when_rows_are_appended() {
    let dir = Dir::new();
    for options in ["-C zfp_acc:0", "--filter trunc:8,shuffle"] {
        dir.write("a.f64", wave(50 * 20)).write("row.f64", wave(20));
        let line = format!("c -qf --lossy {options} --dtype f8 --shape 50,20 a.f64 -o a.b2nd");
        dir.b2(&format!("{line} --chunks 200,20 --blocks 50,20")).ok();
        let before = dir.b2("cat a.b2nd").ok().stdout;
        for _ in 0..5 {
            let run = dir.b2("append a.b2nd row.f64").ok();
            assert!(run.stderr.contains("appended without loss"), "{}", run.stderr);
        }
        let after = dir.b2("cat a.b2nd").ok().stdout;
        assert!(after[..before.len()] == before, "{options}");
        assert!(after[before.len()..] == wave(20).repeat(5), "{options}");
    }
    dir.b2("c -qf --lossy --filter trunc:8,shuffle a.f64 -o a.b2frame").ok();
    let before = dir.b2("cat a.b2frame").ok().stdout;
    dir.b2("append -q a.b2frame row.f64").ok();
    assert!(dir.b2("cat a.b2frame").ok().stdout == [before, wave(20)].concat());
}

#[test]
fn lossy_filters_are_for_numbers_that_fit() {
    let dir = Dir::new();
    let npy = |descr: &str, data: &[u8]| {
        let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        npy.extend(
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (8,), }}").bytes(),
        );
        npy.resize(127, b' ');
        npy.push(b'\n');
        npy.extend(data);
        npy
    };
    dir.write("i.npy", npy("<i8", &[1; 64])).write("f.npy", npy("<f8", &[1; 64]));
    dir.write("big.npy", npy(">f8", &[1; 64])).write("c.npy", npy("<c8", &[1; 64]));
    dir.write("date.npy", npy("<M8[s]", &[1; 64])).write("s.npy", npy("|S8", &[1; 64]));
    snapshot!(dir.b2("c --lossy --filter trunc:12,shuffle i.npy"), @"
    exit 2
    --- stdout
    --- stderr
    b2: i.npy: the filter trunc_prec:12, shuffle is for little-endian floating-point numbers of 4 or 8 bytes, and the items are <i8
    ");
    for name in ["big.npy", "c.npy", "date.npy", "s.npy"] {
        let run = dir.b2(&format!("c --lossy --filter trunc:12,shuffle {name}"));
        assert_eq!(run.code, Some(2), "{name}: {}", run.stderr);
        let run = dir.b2(&format!("c --lossy -C zfp_acc:1 {name}"));
        assert_eq!(run.code, Some(2), "{name}: {}", run.stderr);
    }
    snapshot!(dir.b2("c --lossy --filter int_trunc:-4,shuffle f.npy"), @"
    exit 2
    --- stdout
    --- stderr
    b2: f.npy: the filter int_trunc:-4, shuffle is for little-endian integers, and the items are <f8
    ");
    snapshot!(dir.b2("c --lossy -t 8 --filter trunc:12,shuffle f.npy -o f.b2frame"), @"
    exit 2
    --- stdout
    --- stderr
    b2: f.npy: the filter trunc_prec:12, shuffle would change the header of the .npy file, which is taken as bytes
    hint: leave out -t, -z, --block-size and --format b2frame: arrays have --chunks and --blocks
    ");
    dir.write("bytes", [1; 64]);
    snapshot!(dir.b2("c --lossy -t 4 --filter trunc:12,shuffle bytes"), @"
    exit 2
    --- stdout
    --- stderr
    b2: bytes: the filter trunc_prec:12, shuffle changes numbers, and the type of the items is unknown
    hint: use --dtype, as in --dtype f4
    ");
    assert_eq!(dir.names(), ["big.npy", "bytes", "c.npy", "date.npy", "f.npy", "i.npy", "s.npy"]);
    dir.b2("c -q --lossy --filter int_trunc:-4,shuffle i.npy").ok();
    dir.b2("c -q --lossy --filter trunc:12,shuffle f.npy").ok();
}

#[test]
fn the_type_of_items_goes_with_the_options_of_a_frame() {
    let dir = Dir::new();
    dir.write("data", wave(1000));
    let line = "c -q --lossy --filter trunc:10,shuffle --dtype f8 -t 8 -z 1K data -o f.b2frame";
    dir.b2(line).ok();
    let info: serde_json::Value =
        serde_json::from_slice(&dir.b2("info --json f.b2frame").ok().stdout).unwrap();
    assert_eq!((&info["nchunks"], &info["typesize"]), (&8.into(), &8.into()));
}
