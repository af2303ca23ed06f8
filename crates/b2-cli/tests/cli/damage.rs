//! Damaged, cut and hostile files: a clear message, code 1 or 4, no leftovers, never a panic.

use blosc_testdata::{data::XorShift32, fixture::path};

use crate::session::{Dir, Run, snapshot, walk};

/// Asserts that the program ended by itself and did not panic.
#[track_caller]
fn graceful(run: &Run) {
    assert!(matches!(run.code, Some(0..=5)), "{:?} {}", run.code, run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
}

#[test]
fn a_cut_frame_is_damage_wherever_it_is_cut() {
    let dir = Dir::new();
    dir.write("w", walk(500)).b2("c -q -t 4 -z 512 w").ok();
    let frame = dir.read("w.b2frame");
    for len in (10..frame.len()).step_by(37).chain([86, 87, 88, 97, frame.len() - 1]) {
        dir.write("cut.b2frame", &frame[..len]);
        for line in ["verify cut.b2frame", "cat cut.b2frame", "d cut.b2frame -o out"] {
            let run = dir.b2(line);
            assert_eq!(run.code, Some(1), "{len} {line}: {}", run.stderr);
        }
        assert_eq!(dir.b2_with("cat", &frame[..len]).code, Some(1), "{len}");
        assert!(!dir.path("out").exists());
    }
    assert_eq!(dir.names(), ["cut.b2frame", "w", "w.b2frame"]);
}

#[test]
fn messages_of_a_cut_frame() {
    let dir = Dir::new();
    std::fs::copy(path("frames/tiny.b2frame"), dir.path("tiny")).unwrap();
    let frame = dir.read("tiny");
    dir.write("half", &frame[..200]).write("head", &frame[..50]);
    snapshot!(dir.b2("half head"), @r"
    exit 1
    --- stdout
    --- stderr
    b2: half: cut off: 200 of 369 bytes are there
    hint: `b2 rescue half -o NEW` saves what is there
    b2: head: cut off: 50 bytes of a header that has 87 or more
    ");
    snapshot!(dir.b2("verify half head"), @r"
    exit 1
    --- stdout
    half: DAMAGED: 1 chunk good, 2 bad
    head: DAMAGED
    --- stderr
    b2: half: cut off: 200 of 369 bytes are there
    hint: `b2 rescue half -o NEW` saves what can be read
    b2: head: cut off: 50 bytes of a header that has 87 or more
    hint: `b2 rescue head -o NEW` saves what can be read
    ");
    let run = dir.b2("cat --json half");
    assert_eq!(run.code, Some(1));
    // The first chunk lies before the damage.
    let whole = dir.b2("cat tiny").ok().stdout;
    assert_eq!(run.stdout, whole[..64]);
    assert_eq!(
        run.stderr,
        "{\"schema\":\"b2.error/1\",\"kind\":\"data\",\"message\":\"cut off: 200 of 369 bytes are \
         there\",\"file\":\"half\",\"offset\":16,\"expected\":369,\"found\":200,\"hint\":\"`b2 rescue half \
         -o NEW` saves what is there\"}\n"
    );
    snapshot!(dir.b2_with("info", &frame[..200]), @r"
    exit 1
    --- stdout
    --- stderr
    b2: stdin: cut off: 200 of 369 bytes are there
    hint: `b2 rescue FILE -o NEW` saves what is there
    ");
}

#[test]
fn a_second_frame_that_is_cut_is_found() {
    let dir = Dir::new();
    dir.write("a", "0123").b2("c -q -t 1 a").ok();
    let frame = dir.read("a.b2frame");
    dir.write("both", [&frame[..], &frame[..100]].concat());
    let run = dir.b2("cat both");
    assert_eq!((run.code, run.text()), (Some(1), "0123"));
    let run = dir.b2("verify both");
    assert_eq!((run.code, run.text()), (Some(1), "both: DAMAGED: 1 chunk good, 1 bad\n"));
    assert!(run.stderr.contains("frame 1: "), "{}", run.stderr);
}

#[test]
fn flipped_bits_never_panic() {
    let dir = Dir::new();
    let mut random = XorShift32::new(5);
    for name in ["tiny.b2frame", "tiny-nd.b2nd", "use-dict.b2frame", "variable-chunks.b2frame"] {
        let sound = std::fs::read(path("frames").join(name)).unwrap();
        for _ in 0..40 {
            let mut frame = sound.clone();
            let at = usize::try_from(random.below(frame.len() as u64)).unwrap();
            frame[at] ^= 1 << random.below(8);
            dir.write("flipped", frame);
            for line in ["info -vv flipped", "verify flipped"] {
                graceful(&dir.b2(line));
            }
        }
    }
}

#[test]
fn malformed_samples_end_as_their_list_demands() {
    let dir = Dir::new();
    let list: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path("frames/malformed.json")).unwrap()).unwrap();
    let mut ncases = 0;
    for case in list["cases"].as_array().unwrap() {
        let base = path("frames").join(case["base"].as_str().unwrap());
        if !base.is_file() {
            continue;
        }
        dir.write("case", edited(std::fs::read(base).unwrap(), case));
        let (info, verify, cat) =
            (dir.b2("info -v --json case"), dir.b2("verify case"), dir.b2("cat case"));
        [&info, &verify, &cat].into_iter().for_each(graceful);
        match case["required"].as_str().unwrap() {
            "reject" => assert_ne!(info.code, Some(0), "{case}"),
            "reject-on-read" => assert_ne!(verify.code, Some(0), "{case}"),
            "accept" => {
                assert_eq!(
                    (info.code, cat.code),
                    (Some(0), Some(0)),
                    "{case} {}{}",
                    info.stderr,
                    cat.stderr
                )
            }
            _ => {}
        }
        ncases += 1;
    }
    assert!(ncases > 80, "{ncases}");
}

/// A base file with the edits of one case.
fn edited(mut bytes: Vec<u8>, case: &serde_json::Value) -> Vec<u8> {
    let hex = |text: &str| -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
            .collect()
    };
    for edit in case["edits"].as_array().unwrap() {
        let at = usize::try_from(edit["at"].as_u64().unwrap()).unwrap();
        let new = hex(edit["hex"].as_str().unwrap());
        bytes[at..at + new.len()].copy_from_slice(&new);
    }
    if let Some(len) = case["truncate_to"].as_u64() {
        bytes.truncate(usize::try_from(len).unwrap());
    }
    if let Some(count) = case["append_bytes"]["count"].as_u64() {
        let value = hex(case["append_bytes"]["value"].as_str().unwrap());
        bytes.extend(value.repeat(usize::try_from(count).unwrap()));
    }
    bytes
}

#[test]
fn a_frame_that_promises_gigabytes_costs_nothing() {
    // A run of 2^28 chunks, from an index that is a run itself.
    let file = path("frames/special-zero.b2frame");
    let mut frame = std::fs::read(file).unwrap();
    frame[30..38].copy_from_slice(&(1_i64 << 40).to_be_bytes());
    let dir = Dir::new();
    dir.write("bomb", frame);
    graceful(&dir.b2("verify bomb"));
    graceful(&dir.b2("info -v bomb"));
    graceful(&dir.b2("cat --max-output 1M bomb"));
}

/// The output of `verify` for a file written with these options, and for its third chunk with a
/// changed byte.
fn verified(made_by: &str) -> (String, String) {
    let dir = Dir::new();
    dir.write("w.i32", walk(5000)).b2(made_by).ok();
    let sound = dir.b2("verify w.b2frame").ok().text().to_owned();
    let table: serde_json::Value =
        serde_json::from_slice(&dir.b2("info --json -vv w.b2frame").ok().stdout).unwrap();
    let at = usize::try_from(table["chunks"][2]["offset"].as_u64().unwrap()).unwrap();
    let mut frame = dir.read("w.b2frame");
    // A literal of the stream: the chunk still decodes, to other data.
    frame[at + 100] ^= 1;
    dir.write("w.b2frame", frame);
    let run = dir.b2("verify w.b2frame");
    (sound, run.stderr)
}

#[test]
fn the_checksum_chosen_tells_what_is_damaged() {
    let compress = "c -q -z 4000 -l 0 w.i32 -o w.b2frame --checksum ";
    let (sound, damage) = verified(&format!("{compress}chunks"));
    assert!(sound.contains("xxh3 of 5 chunks checked"), "{sound}");
    assert!(damage.contains("the bytes of chunk 2 are not those that were sealed"), "{damage}");
    assert!(!damage.contains("chunk 1"), "{damage}");
    let (sound, damage) = verified(&format!("{compress}body"));
    assert!(sound.contains("xxh3 of 5 chunks checked"), "{sound}");
    assert!(damage.contains("are not those that were sealed"), "{damage}");
    let (sound, damage) = verified(&format!("{compress}none"));
    assert!(sound.contains("no checksums stored"), "{sound}");
    assert_eq!(damage, "");
}

#[test]
fn converted_files_have_the_checksum_that_was_chosen() {
    let dir = Dir::new();
    dir.write("w.i32", walk(5000)).b2("c -q -z 4000 w.i32 -o w.b2frame").ok();
    for name in ["o.b2frame", "o.sframe", "p.b2nd", "p.bcolz"] {
        let typed = if name.starts_with('p') { "--dtype i4" } else { "" };
        for (choice, words) in [("none", "no checksums stored"), ("chunks", "xxh3 of")] {
            dir.b2(&format!("convert -q -f --checksum {choice} {typed} w.b2frame -o {name}")).ok();
            let text = dir.b2(&format!("verify {name}")).ok().text().to_owned();
            assert!(text.contains(words), "{choice}: {text}");
        }
    }
    snapshot!(dir.b2("convert --checksum sha256 w.b2frame -o x.sframe"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: a .sframe file has no such checksum
    hint: --checksum body, chunks or none is for frames and arrays, adler32 to sha512 or none for --format blp
    ");
    snapshot!(dir.b2("c --checksum chunks w.i32 -o x.blp"), @r"
    exit 2
    --- stdout
    --- stderr
    b2: a .blp file has no such checksum
    hint: --checksum body, chunks or none is for frames and arrays, adler32 to sha512 or none for --format blp
    ");
}
