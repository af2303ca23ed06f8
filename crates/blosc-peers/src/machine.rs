//! The page of a machine: its description, the speed of its memory, and the goals reached on it.

use core::fmt::Write as _;
use core::time::Duration;
use std::{fs, io::ErrorKind, path::Path, process::Command, thread, time::Instant};

use crate::{
    c_blosc2::CBlosc2,
    clock::best_quarter,
    failure::{Result, fail},
    goals,
    table::Row,
};

/// Checks that a name is usable for a file and for a heading.
pub(crate) fn checked_name(name: String) -> Result<String> {
    let is_good = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    if !name.is_empty() && name.split('-').all(|part| !part.is_empty() && part.chars().all(is_good))
    {
        return Ok(name);
    }
    fail(format!("--machine {name}: small letters, digits and single hyphens are allowed"))
}

/// The heading of hand-written notes about a machine, the last section of its page.
const NOTES: &str = "\n## What limits it\n";

/// Writes `NAME.md` into the folder `out`. Keeps the section [`NOTES`] of an older page.
pub(crate) fn write_page(
    name: &str,
    out: &Path,
    library: &Path,
    runs: usize,
    rows: &[Row],
) -> Result<()> {
    let path = out.join(format!("{name}.md"));
    let against = CBlosc2::load(library)?.version();
    let older = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let text = page(name, &facts(&against), runs, rows) + notes(&older);
    fs::write(&path, text)?;
    println!("written to {}", path.display());
    Ok(())
}

/// The section [`NOTES`] of a page.
fn notes(page: &str) -> &str {
    page.find(NOTES).map_or("", |at| &page[at..])
}

/// The text of the page, without notes.
fn page(name: &str, facts: &[(&str, String)], runs: usize, rows: &[Row]) -> String {
    let mut text = format!(
        "# {name}\n\nThe median of `cargo xtask bench-peers quick --runs {runs} --machine {name}`, which wrote this page. \"Mean\" is the\n\
         geometric mean of how many times as fast the Rust crates are, \"worst\" the slowest setting.\n\n| | |\n|---|---|\n"
    );
    for (what, value) in facts {
        let _ = writeln!(text, "| {what} | {value} |");
    }
    let _ = write!(text, "\n{}", goals::markdown(rows));
    let _ = write!(text, "\n## Settings under a floor\n\n{}", goals::below_floor(rows));
    text
}

/// The facts that a ratio may depend on.
fn facts(against: &str) -> Vec<(&'static str, String)> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| cpuinfo_field(&cpuinfo, name).unwrap_or("unknown").to_owned();
    let cores = thread::available_parallelism().map_or(1, core::num::NonZero::get);
    let processor = format!(
        "{}, family {}, model {}, stepping {}; {cores} cores",
        field("model name"),
        field("cpu family"),
        field("model"),
        field("stepping")
    );
    vec![
        ("processor", processor),
        ("instructions", instructions(&field("flags"))),
        ("caches", caches()),
        ("copies of 512 KiB", copies(512 << 10, cores)),
        ("copies of 4 MiB", copies(4 << 20, cores)),
        ("copies of 256 MiB", copies(256 << 20, cores)),
        (
            "compared with",
            format!("C-Blosc2 {against}, and the programs of `xtask/python/requirements.txt`"),
        ),
        ("compiler", first_line(Command::new("rustc").arg("--version"))),
    ]
}

/// The value of a field of the first processor.
fn cpuinfo_field<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(found, _)| found.trim_end() == name)?;
    Some(value.trim())
}

/// The flags that a choice in the crates depends on.
fn instructions(flags: &str) -> String {
    const ASKED: [&str; 9] =
        ["sse2", "avx2", "bmi2", "avx512f", "avx512bw", "avx512vbmi", "gfni", "avx_vnni", "asimd"];
    let has = |name: &&str| flags.split(' ').any(|flag| flag == *name);
    ASKED.into_iter().filter(has).collect::<Vec<_>>().join(", ")
}

/// The caches of the first core, from Linux.
fn caches() -> String {
    let read = |cache: usize, name: &str| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{cache}/{name}");
        fs::read_to_string(path).map(|text| text.trim().to_owned()).ok()
    };
    let cache = |number| {
        let (level, kind) = (read(number, "level")?, read(number, "type")?);
        let (size, ways) = (read(number, "size")?, read(number, "ways_of_associativity")?);
        (kind != "Instruction").then(|| format!("L{level} {size} ({ways} ways)"))
    };
    let all: Vec<_> = (0..8).filter_map(cache).collect();
    if all.is_empty() { "unknown".to_owned() } else { all.join(", ") }
}

/// The speed of copying a buffer of `nbytes` with one thread and with all: the limit of all work
/// that is mostly copying. All threads share one buffer, like the blocks of a chunk.
fn copies(nbytes: usize, cores: usize) -> String {
    let (src, mut dest) = (vec![1_u8; nbytes], vec![0_u8; nbytes]);
    let mut speeds = Vec::new();
    for threads in [1, cores] {
        let mut seconds = copy_times(&src, &mut dest, threads);
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let speed = nbytes as f64 / best_quarter(&mut seconds) / 1e9;
        speeds.push(format!("{speed:.1} GB/s by {threads}"));
    }
    speeds.join(", ") + " threads"
}

/// Seconds of one copy in each of some rounds. Threads are started once, as in a pool.
fn copy_times(src: &[u8], dest: &mut [u8], threads: usize) -> Vec<f64> {
    const ROUNDS: usize = 16;
    let repeats = ((64 << 20) / src.len()).max(1);
    let share = src.len().div_ceil(threads);
    let barrier = std::sync::Barrier::new(threads);
    let copy = |src: &[u8], dest: &mut [u8]| {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            barrier.wait();
            let start = Instant::now();
            for _ in 0..repeats {
                dest.copy_from_slice(core::hint::black_box(src));
                core::hint::black_box(&mut *dest);
            }
            barrier.wait();
            times.push(start.elapsed());
        }
        times
    };
    let copy = &copy;
    let times = thread::scope(|scope| {
        let parts = src.chunks(share).zip(dest.chunks_mut(share));
        let threads: Vec<_> =
            parts.map(|(src, dest)| scope.spawn(move || copy(src, dest))).collect();
        let times: Vec<Vec<Duration>> =
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect();
        times.into_iter().next().unwrap_or_default()
    });
    let repeats = u32::try_from(repeats).unwrap_or(1);
    times.into_iter().map(|time| (time / repeats).as_secs_f64()).collect()
}

/// The first line that a command prints.
fn first_line(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clock::Times, table::Subject};

    #[test]
    fn names_of_machines_are_names_of_files() {
        for name in ["zen4", "sapphire-rapids", "m1"] {
            assert_eq!(checked_name(name.into()).unwrap(), name);
        }
        for name in ["", "../zen4", "Zen4", "zen--4", "-zen4", "zen 4"] {
            assert!(checked_name(name.into()).is_err(), "{name}");
        }
    }

    #[test]
    fn fields_are_those_of_the_first_processor() {
        let cpuinfo = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n\n\
                       processor\t: 1\nmodel\t\t: 18\n";
        assert_eq!(cpuinfo_field(cpuinfo, "model"), Some("17"));
        assert_eq!(cpuinfo_field(cpuinfo, "model name"), Some("AMD EPYC"));
        assert_eq!(cpuinfo_field(cpuinfo, "stepping"), None);
        assert_eq!(instructions("fpu sse2 avx avx2 gfni"), "sse2, avx2, gfni");
    }

    #[test]
    fn a_page_has_facts_goals_and_what_is_under_a_floor() {
        let subject = Subject {
            group: "items",
            what: "cold",
            setting: "lz4 none".into(),
            case: "zeros".into(),
            threads: 1,
            nbytes: 4,
            size: 0.0,
        };
        let rows = [Row { subject, times: Times { ours: 2.0, theirs: 1.0 } }];
        let text = page("zen4", &[("processor", "a fast one".into())], 5, &rows);
        assert!(text.starts_with(
            "# zen4\n\nThe median of `cargo xtask bench-peers quick --runs 5 --machine zen4`"
        ));
        assert!(text.contains("\n| processor | a fast one |\n\n| what | required |"));
        assert!(text.contains("| items | cold | lz4 none | zeros | 1 | **0.50** | 1 |"));
    }

    #[test]
    fn what_was_written_of_a_machine_is_kept() {
        let section = "\n## What limits it\n\nIts memory.\n";
        assert_eq!(notes(&format!("# zen4\n\n| | |\n{section}")), section);
        assert_eq!(notes("# zen4\n\n## Settings under a floor\n"), "");
        assert_eq!(notes(""), "");
    }

    #[test]
    fn all_of_a_buffer_is_copied() {
        for threads in [1, 3] {
            let (src, mut dest) = (vec![7; 1000], vec![0; 1000]);
            assert_eq!(copy_times(&src, &mut dest, threads).len(), 16);
            assert_eq!(src, dest);
        }
    }
}
