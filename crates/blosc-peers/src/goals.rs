//! What the project aims at, and which of it was reached.
//!
//! For each goal: the required geometric mean, the stretch goal, and the floor,
//! which is the worst that a single setting may be. A floor is judged on the median of several runs
//! of the program, so one bad setting in one run says little.

use core::fmt::Write as _;

use crate::table::{Row, Subject, mean};

/// Rows that count for a goal.
type Which = fn(&Subject) -> bool;

struct Goal {
    what: &'static str,
    required: f64,
    stretch: f64,
    /// 0 where there is none.
    floor: f64,
    /// Of these rows the mean is taken,
    mean_of: Which,
    /// and of these the worst.
    worst_of: Which,
}

const fn goal(what: &'static str, [required, stretch, floor]: [f64; 3], which: Which) -> Goal {
    Goal { what, required, stretch, floor, mean_of: which, worst_of: which }
}

/// A line for each goal, and how many were reached.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text =
        "| what | required | stretch goal | floor | settings | mean | worst | verdict |\n\
                    |---|--:|--:|--:|--:|--:|---|---|\n"
            .to_owned();
    let (mut measured, mut required, mut stretch, mut floors, mut missing) = (0, 0, 0, 0, 0);
    for goal in goals() {
        let Some(found) = Found::new(&goal, rows) else {
            missing += 1;
            continue;
        };
        let _ = write!(
            text,
            "| {} | {} | {} | {} ",
            goal.what, goal.required, goal.stretch, goal.floor
        );
        let verdict = found.verdict(&goal);
        let Found { settings, mean, worst, case, .. } = &found;
        let _ = writeln!(text, "| {settings} | **{mean:.2}** | {worst:.2} {case} | {verdict} |");
        measured += 1;
        required += u32::from(*mean >= goal.required);
        stretch += u32::from(*mean >= goal.stretch);
        floors += u32::from(found.below == 0);
    }
    let _ = writeln!(
        text,
        "\nOf {measured} goals measured, {required} reach the required mean, {stretch} the stretch goal; {floors} keep \
         their floor. {missing} others were not measured."
    );
    let sizes = rows.iter().map(|row| &row.subject).filter(|subject| subject.group != "peers");
    if let Some(largest) =
        sizes.max_by(|a, b| a.size.total_cmp(&b.size)).filter(|largest| largest.size > 0.0)
    {
        let Subject { what, setting, case, size, .. } = largest;
        let verdict = if *size <= MOST_SIZE { "as allowed" } else { "**too large**" };
        let _ = writeln!(
            text,
            "\nThe largest size is {size:.4} of the reference's ({what} {setting}, {case}): {verdict} ({MOST_SIZE})."
        );
    }
    text
}

/// The settings that are under the floor of a goal, slowest first.
pub(crate) fn below_floor(rows: &[Row]) -> String {
    let mut below = Vec::new();
    for goal in goals() {
        let all = rows.iter().filter(|row| (goal.worst_of)(&row.subject));
        below.extend(all.filter(|row| row.ratio() < goal.floor).map(|row| (goal.floor, row)));
    }
    below.sort_by(|(_, a), (_, b)| a.ratio().total_cmp(&b.ratio()));
    let mut text =
        "| group | what | setting | case | threads | times as fast | floor | ours GB/s | \
                    theirs GB/s |\n|---|---|---|---|--:|--:|--:|--:|--:|\n"
            .to_owned();
    for (floor, row) in below {
        let Subject { group, what, setting, case, threads, .. } = &row.subject;
        let (ours, theirs) = (row.speed(row.times.ours), row.speed(row.times.theirs));
        let _ = writeln!(
            text,
            "| {group} | {what} | {setting} | {case} | {threads} | **{:.2}** | {floor} | {ours:.2} | {theirs:.2} |",
            row.ratio()
        );
    }
    text
}

/// What compressed data may be of the reference's size at most, in each setting.
const MOST_SIZE: f64 = 1.005;

/// What the rows say of a goal.
struct Found {
    settings: usize,
    mean: f64,
    worst: f64,
    case: String,
    /// Settings below the floor.
    below: usize,
}

impl Found {
    fn new(goal: &Goal, rows: &[Row]) -> Option<Self> {
        let of = |which: Which| rows.iter().filter(move |row| which(&row.subject));
        let worst = of(goal.worst_of).min_by(|a, b| a.ratio().total_cmp(&b.ratio()))?;
        let settings = of(goal.mean_of).count();
        (settings > 0).then(|| Self {
            settings,
            mean: mean(of(goal.mean_of).map(Row::ratio)),
            worst: worst.ratio(),
            case: format!("{}, {}", worst.subject.setting, worst.subject.case),
            below: of(goal.worst_of).filter(|row| row.ratio() < goal.floor).count(),
        })
    }

    fn verdict(&self, goal: &Goal) -> String {
        let mean = match self.mean {
            mean if mean >= goal.stretch => "stretch goal",
            mean if mean >= goal.required => "required",
            _ => "**below**",
        };
        match self.below {
            0 => mean.to_owned(),
            below => format!("{mean}; **{below} under the floor**"),
        }
    }
}

fn goals() -> Vec<Goal> {
    let mut all = Vec::new();
    all.extend(kernels());
    all.extend(codecs());
    all.extend(chunks());
    all.extend(frames());
    all.extend(programs());
    all
}

fn kernels() -> [Goal; 8] {
    [
        goal("shuffle, AVX-512", [1.3, 1.5, 0.95], |s| {
            is_kernel(s, "shuffle", "forward", "avx512")
        }),
        goal("unshuffle, AVX-512", [1.1, 1.2, 0.95], |s| {
            is_kernel(s, "shuffle", "backward", "avx512")
        }),
        goal("shuffle, AVX2", [1.0, 1.1, 0.95], |s| is_kernel(s, "shuffle", "forward", "avx2")),
        goal("unshuffle, AVX2", [1.0, 1.0, 0.95], |s| is_kernel(s, "shuffle", "backward", "avx2")),
        goal("bitshuffle, AVX-512", [2.5, 3.5, 2.0], |s| {
            is_kernel(s, "bitshuffle", "forward", "avx512")
        }),
        goal("bitunshuffle, AVX-512", [3.0, 5.0, 2.0], |s| {
            is_kernel(s, "bitshuffle", "backward", "avx512")
        }),
        goal("bitshuffle, AVX2", [1.15, 1.5, 1.0], |s| {
            is_kernel(s, "bitshuffle", "forward", "avx2")
        }),
        goal("bitunshuffle, AVX2", [1.1, 1.6, 1.0], |s| {
            is_kernel(s, "bitshuffle", "backward", "avx2")
        }),
    ]
}

/// Typesizes for which C-Blosc2 has kernels of its own.
fn is_kernel(s: &Subject, filter: &str, what: &str, simd: &str) -> bool {
    let typesize = s.setting.strip_prefix(filter).unwrap_or("").trim_start();
    s.group == "filters"
        && s.what == what
        && s.case.starts_with(simd)
        && ["1", "2", "4", "8", "16"].contains(&typesize)
}

fn codecs() -> [Goal; 12] {
    [
        goal("BloscLZ compress", [1.15, 1.3, 0.95], |s| is_stream(s, "compress", "blosclz 256K")),
        goal("BloscLZ decompress", [1.25, 1.5, 0.95], |s| {
            is_stream(s, "decompress", "blosclz 256K")
        }),
        goal("BloscLZ compress, streams of 4 KiB", [1.5, 3.0, 1.0], |s| {
            is_stream(s, "compress", "blosclz 4K")
        }),
        goal("LZ4 compress", [1.03, 1.1, 0.9], |s| is_stream(s, "compress", "lz4 256K")),
        goal("LZ4 decompress", [1.0, 1.1, 0.9], |s| is_stream(s, "decompress", "lz4 256K")),
        goal("LZ4HC compress", [0.95, 1.05, 0.85], |s| is_stream(s, "compress", "lz4hc 256K")),
        goal("LZ4HC decompress", [1.0, 1.1, 0.85], |s| is_stream(s, "decompress", "lz4hc 256K")),
        goal("zlib compress", [0.95, 1.0, 0.8], |s| is_stream(s, "compress", "zlib 256K")),
        goal("zlib decompress", [1.05, 1.25, 0.9], |s| is_stream(s, "decompress", "zlib 256K")),
        goal("Zstandard compress", [1.0, 1.02, 0.93], |s| is_stream(s, "compress", "zstd 256K")),
        goal("Zstandard decompress", [0.97, 1.0, 0.93], |s| {
            is_stream(s, "decompress", "zstd 256K")
        }),
        goal("noise: LZ4HC, zlib, Zstandard above level 5", [5.0, 20.0, 1.0], |s| {
            is_stream(s, "compress", "noise, ")
        }),
    ]
}

fn is_stream(s: &Subject, what: &str, codec: &str) -> bool {
    s.group == "streams" && s.what == what && s.setting.starts_with(codec)
}

fn chunks() -> [Goal; 18] {
    [
        goal("chunks, BloscLZ and LZ4: compress", [1.15, 1.25, 0.95], |s| {
            is_fast(s, "compress", 1)
        }),
        goal("the same: decompress into a hot buffer", [1.15, 1.3, 0.95], |s| {
            is_fast(s, "decompress", 1)
        }),
        goal("the same: decompress a large array", [1.3, 1.45, 0.95], |s| {
            s.group == "array" && s.what == "decompress"
        }),
        goal("chunks, LZ4HC, zlib, Zstandard: compress", [1.0, 1.1, 0.9], |s| {
            is_slow(s, "compress")
        }),
        goal("the same: decompress", [1.0, 1.1, 0.9], |s| is_slow(s, "decompress")),
        goal("bitshuffle with BloscLZ or LZ4: compress", [1.2, 1.35, 1.0], |s| {
            is_fast(s, "compress", 1) && s.setting.ends_with("bitshuffle")
        }),
        goal("the same: decompress", [1.5, 1.8, 1.0], |s| {
            is_fast(s, "decompress", 1) && s.setting.ends_with("bitshuffle")
        }),
        goal("constant data: compress", [1.8, 2.5, 1.0], |s| is_constant(s, "compress")),
        goal("constant data: decompress", [1.0, 1.2, 1.0], |s| is_constant(s, "decompress")),
        // 0.05 above what is required of one thread.
        goal("2 threads, several blocks: compress", [1.2, 1.3, 0.95], |s| {
            is_fast(s, "compress", 2) && !is_one_block(s)
        }),
        goal("the same: decompress", [1.2, 1.3, 0.95], |s| {
            is_fast(s, "decompress", 2) && !is_one_block(s)
        }),
        goal(
            "2 threads, chunks of one block, arrays of small chunks: compress",
            [1.6, 1.9, 1.2],
            |s| is_fast(s, "compress", 2) && is_one_block(s) || is_small(s, "compress", 2),
        ),
        goal("the same: decompress", [1.6, 1.9, 1.2], |s| {
            is_fast(s, "decompress", 2) && is_one_block(s) || is_small(s, "decompress", 2)
        }),
        // A mean of 1 is what "never slower" asks for.
        goal("2 threads against one of ours, 16 KiB to 4 MiB", [1.0, 1.0, 0.95], |s| {
            s.group == "threads" && s.what != "memcpy"
        }),
        goal("small chunks, 32 KiB: compress", [1.0, 1.0, 0.95], |s| is_small(s, "compress", 1)),
        goal("the same: decompress", [1.0, 1.0, 0.95], |s| is_small(s, "decompress", 1)),
        goal("one item, of another block each time", [1.3, 2.5, 1.0], |s| is_item(s, "cold")),
        goal("one item, of the same block", [20.0, 100.0, 1.0], |s| is_item(s, "same block")),
    ]
}

fn is_chunk(s: &Subject, what: &str, threads: u16) -> bool {
    s.group == "chunks" && s.what == what && s.threads == threads
}

fn is_fast(s: &Subject, what: &str, threads: u16) -> bool {
    is_chunk(s, what, threads)
        && (s.setting.starts_with("blosclz ") || s.setting.starts_with("lz4 "))
}

fn is_slow(s: &Subject, what: &str) -> bool {
    is_chunk(s, what, 1) && !is_fast(s, what, 1)
}

fn is_constant(s: &Subject, what: &str) -> bool {
    is_chunk(s, what, 1) && s.case.starts_with("zeros")
}

/// At level 9 a chunk of 4 MiB is one block if its items have 8 bytes. (Of 4 bytes it is two, text
/// is eight.) Zeros are no block.
fn is_one_block(s: &Subject) -> bool {
    let set = s.case.strip_suffix(" level 9");
    set.is_some_and(|set| ["f64_linspace", "i64_time", "sparse_f64"].contains(&set))
}

fn is_small(s: &Subject, what: &str, threads: u16) -> bool {
    s.group == "small" && s.what == what && s.threads == threads
}

fn is_item(s: &Subject, what: &str) -> bool {
    s.group == "items" && s.what == what
}

fn frames() -> [Goal; 13] {
    [
        goal("append 1,000 chunks to a frame", [20.0, 50.0, 0.0], |s| {
            is_frame(s, "append all", "1000 chunks")
        }),
        goal("append 50,000 chunks", [100.0, 300.0, 0.0], |s| {
            is_frame(s, "append all", "50000 chunks")
        }),
        goal("save 10,000 chunks to a file or buffer", [50.0, 200.0, 0.0], |s| {
            s.group == "save" && s.case.starts_with("10000 ")
        }),
        Goal {
            worst_of: |s| is_open(s),
            ..goal("open a frame of 1,000,000 chunks (worst: of any)", [20.0, 150.0, 1.0], |s| {
                is_open(s) && s.case.starts_with("1000000 ")
            })
        },
        goal("a random chunk of 800 bytes", [3.0, 6.0, 1.2], |s| is_frame(s, "random chunk", "")),
        goal("all of an array, LZ4, 1 thread: write", [1.3, 2.0, 1.0], |s| {
            is_array(s, "lz4", "write all", 1)
        }),
        goal("all of an array, LZ4, 1 thread: read", [1.3, 2.0, 1.0], |s| {
            is_array(s, "lz4", "read all", 1)
        }),
        goal("all of an array, LZ4, 2 threads: write", [2.5, 4.0, 1.0], |s| {
            is_array(s, "lz4", "write all", 2)
        }),
        goal("all of an array, LZ4, 2 threads: read", [2.5, 4.0, 1.0], |s| {
            is_array(s, "lz4", "read all", 2)
        }),
        // No goal was set for these but that of chunks, with two threads 0.05 above it.
        goal("all of an array, Zstandard, 1 thread: write", [1.0, 1.1, 0.9], |s| {
            is_array(s, "zstd", "write all", 1)
        }),
        goal("all of an array, Zstandard, 1 thread: read", [1.0, 1.1, 0.9], |s| {
            is_array(s, "zstd", "read all", 1)
        }),
        goal("all of an array, Zstandard, 2 threads: write", [1.05, 1.25, 0.95], |s| {
            is_array(s, "zstd", "write all", 2)
        }),
        goal("all of an array, Zstandard, 2 threads: read", [1.05, 1.25, 0.95], |s| {
            is_array(s, "zstd", "read all", 2)
        }),
    ]
}

/// Chunks of 100 items.
fn is_frame(s: &Subject, what: &str, case: &str) -> bool {
    s.group == "frames"
        && s.what == what
        && s.case.starts_with(case)
        && s.case.ends_with(" 800 bytes")
}

fn is_open(s: &Subject) -> bool {
    ["open", "frames"].contains(&s.group) && s.what == "open"
}

fn is_array(s: &Subject, codec: &str, what: &str, threads: u16) -> bool {
    s.group == "arrays" && s.setting.starts_with(codec) && s.what == what && s.threads == threads
}

/// By the wall.
fn programs() -> [Goal; 5] {
    [
        goal("Bloscpack files: pack", [1.5, 3.0, 1.0], |s| is_python(s, "bloscpack", "pack")),
        goal("Bloscpack files: unpack", [1.5, 3.0, 1.0], |s| is_python(s, "bloscpack", "unpack")),
        goal("bcolz: read all", [5.0, 10.0, 2.0], |s| is_even(s, "read all")),
        goal("bcolz: one item at random", [20.0, 50.0, 2.0], |s| is_even(s, "random items")),
        goal("bcolz: where", [5.0, 10.0, 2.0], |s| is_python(s, "bcolz", "where")),
    ]
}

fn is_python(s: &Subject, group: &str, what: &str) -> bool {
    s.group == group && s.what == what && !s.setting.ends_with("processor time")
}

fn is_even(s: &Subject, what: &str) -> bool {
    is_python(s, "bcolz", what) && s.case.ends_with(" even float64")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Times;

    fn row(group: &'static str, what: &'static str, setting: &str, case: &str, ratio: f64) -> Row {
        let (setting, case) = (setting.to_owned(), case.to_owned());
        let subject = Subject { group, what, setting, case, threads: 1, nbytes: 1, size: 0.0 };
        Row { subject, times: Times { ours: 1.0, theirs: ratio } }
    }

    fn line(rows: &[Row], what: &str) -> String {
        let text = markdown(rows);
        text.lines().find(|line| line.starts_with(&format!("| {what} |"))).unwrap().to_owned()
    }

    #[test]
    fn a_mean_and_its_worst_are_judged_apart() {
        let rows = |worst| {
            [
                row("items", "cold", "lz4 none", "zeros", worst),
                row("items", "cold", "lz4 shuffle", "i32_walk", 16.0),
                row("items", "same block", "lz4 shuffle", "i32_walk", 0.1),
            ]
        };
        let what = "one item, of another block each time";
        assert!(line(&rows(0.25), what).ends_with(
            "| 1.3 | 2.5 | 1 | 2 | **2.00** | 0.25 lz4 none, zeros | required; **1 under the floor** |"
        ));
        assert!(
            line(&rows(1.0), what).ends_with("**4.00** | 1.00 lz4 none, zeros | stretch goal |")
        );
        assert!(line(&rows(0.04), what).ends_with("| **below**; **1 under the floor** |"));
        let end = "Of 2 goals measured, 1 reach the required mean, 0 the stretch goal; 0 keep their floor. ";
        assert!(markdown(&rows(0.25)).contains(end));
        assert!(!markdown(&[]).contains(what));
    }

    #[test]
    fn settings_under_a_floor_are_listed_slowest_first() {
        let rows = [
            row("items", "cold", "lz4 none", "zeros", 0.5),
            row("items", "cold", "lz4 none", "random", 2.0),
            row("items", "same block", "lz4 none", "zeros", 0.25),
        ];
        let text = below_floor(&rows);
        let lines: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains("| same block | lz4 none | zeros | 1 | **0.25** | 1 |"));
        assert!(lines[1].contains("| cold | lz4 none | zeros | 1 | **0.50** | 1 |"));
    }

    #[test]
    fn the_largest_size_is_judged() {
        let mut rows = [
            row("small", "compress", "blosclz none", "zeros", 1.0),
            row("peers", "a", "b", "c", 1.0),
        ];
        assert!(!markdown(&rows).contains("largest"));
        (rows[0].subject.size, rows[1].subject.size) = (1.005, 2.0);
        assert!(
            markdown(&rows)
                .contains("1.0050 of the reference's (compress blosclz none, zeros): as allowed")
        );
        rows[0].subject.size = 1.0051;
        assert!(markdown(&rows).contains("**too large**"));
    }

    #[test]
    fn the_worst_may_be_of_more_rows_than_the_mean() {
        let rows = [
            row("open", "open", "lz4 shuffle", "1000000 chunks", 40.0),
            row("open", "open", "lz4 shuffle", "1000 chunks", 0.5),
        ];
        let line = line(&rows, "open a frame of 1,000,000 chunks (worst: of any)");
        assert!(line.contains("| **40.00** | 0.50 lz4 shuffle, 1000 chunks | required;"), "{line}");
    }

    #[test]
    fn lz4_is_not_lz4hc() {
        let s = row("streams", "compress", "lz4hc 256K level 5", "random level 5", 1.0).subject;
        assert!(is_stream(&s, "compress", "lz4hc 256K") && !is_stream(&s, "compress", "lz4 256K"));
        let s = row("chunks", "compress", "lz4hc shuffle", "zeros level 5", 1.0).subject;
        assert!(
            is_slow(&s, "compress") && !is_fast(&s, "compress", 1) && is_constant(&s, "compress")
        );
        let s = row("filters", "forward", "bitshuffle 4", "avx2 16K at 0 to 0", 1.0).subject;
        assert!(
            is_kernel(&s, "bitshuffle", "forward", "avx2")
                && !is_kernel(&s, "shuffle", "forward", "avx2")
        );
    }
}
