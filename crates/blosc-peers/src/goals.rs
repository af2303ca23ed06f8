//! The goals of the project, and the reached ones.
//!
//! Each goal has a required geometric mean, a stretch goal, and a floor, which is the least ratio
//! of a single setting. The median of several runs of the program decides about a floor, so one bad
//! setting in one run says little.

use core::fmt::Write as _;

use crate::table::{Row, Subject, mean};

struct Goal {
    what: &'static str,
    required: f64,
    stretch: f64,
    /// 0 for no floor.
    floor: f64,
    /// The mean is taken over these rows,
    mean_of: Which,
    /// and the worst over these.
    worst_of: Which,
}

const fn goal(what: &'static str, [required, stretch, floor]: [f64; 3], which: Which) -> Goal {
    Goal { what, required, stretch, floor, mean_of: which, worst_of: which }
}

/// A line for each goal, and the number of reached goals.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text =
        "| what | required | stretch goal | floor | settings | mean | worst | verdict |\n\
                    |---|--:|--:|--:|--:|--:|---|---|\n"
            .to_owned();
    let (mut measured, mut required, mut stretch, mut floors, mut missing) = (0, 0, 0, 0, 0);
    for goal in GOALS {
        let Some(found) = Found::new(goal, rows) else {
            missing += 1;
            continue;
        };
        let _ = write!(
            text,
            "| {} | {} | {} | {} ",
            goal.what, goal.required, goal.stretch, goal.floor
        );
        let verdict = found.verdict(goal);
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

/// The settings below the floor of a goal, slowest first.
pub(crate) fn below_floor(rows: &[Row]) -> String {
    let mut below = Vec::new();
    for goal in GOALS {
        let all = rows.iter().filter(|row| goal.worst_of.holds(&row.subject));
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

/// The greatest allowed size of compressed data as a multiple of the reference's, in each setting.
const MOST_SIZE: f64 = 1.005;

/// The results of a goal.
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
        let of = |which: Which| rows.iter().filter(move |row| which.holds(&row.subject));
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

/// The rows of a goal: a group, the measured operation, and more words if the group has several
/// kinds of settings.
#[derive(Clone, Copy)]
enum Which {
    /// A filter with typesizes that C-Blosc2 has kernels for; the operation; vector instructions.
    Kernel(&'static str, &'static str, &'static str),
    /// The operation on one stream, and the start of the setting.
    Stream(&'static str, &'static str),
    /// Chunks of BloscLZ and LZ4, with this number of threads,
    Fast(&'static str, u16),
    /// with bitshuffle and one thread,
    Bits(&'static str),
    /// of several blocks and with two threads,
    Blocks(&'static str),
    /// or of one block, and arrays of small chunks, with two threads.
    OneBlock(&'static str),
    /// Chunks of the other codecs.
    Slow(&'static str),
    /// Chunks of one value.
    Constant(&'static str),
    /// Any setting of a group, with one thread.
    Group(&'static str, &'static str),
    /// Work of two threads compared with one of the same crate.
    Threads,
    /// The operation on frames of chunks of 100 items, and the start of the case.
    Frame(&'static str, &'static str),
    /// Saving of 10,000 chunks.
    Save,
    /// Opening a frame of any number of chunks, or of a million.
    Open,
    OpenMillion,
    /// Codec, operation on an array, threads.
    Array(&'static str, &'static str, u16),
    /// The group and the operation of a program in Python, by the wall clock.
    Python(&'static str, &'static str),
    /// The same operation of bcolz for even numbers.
    Even(&'static str),
}

use Which::{
    Array, Bits, Blocks, Constant, Even, Fast, Frame, Group, Kernel, OneBlock, Open, OpenMillion,
    Python, Save, Slow, Stream, Threads,
};

impl Which {
    fn holds(self, s: &Subject) -> bool {
        let is_of = |group: &str, what: &str| s.group == group && s.what == what;
        let is_chunk = |what: &str, threads: u16| is_of("chunks", what) && s.threads == threads;
        let is_fast = s.setting.starts_with("blosclz ") || s.setting.starts_with("lz4 ");
        match self {
            Kernel(filter, what, simd) => {
                // Typesizes for which C-Blosc2 has kernels of its own.
                let typesize = s.setting.strip_prefix(filter).unwrap_or("").trim_start();
                is_of("filters", what)
                    && s.case.starts_with(simd)
                    && ["1", "2", "4", "8", "16"].contains(&typesize)
            }
            Stream(what, codec) => is_of("streams", what) && s.setting.starts_with(codec),
            Fast(what, threads) => is_chunk(what, threads) && is_fast,
            Bits(what) => Fast(what, 1).holds(s) && s.setting.ends_with("bitshuffle"),
            Blocks(what) => Fast(what, 2).holds(s) && !is_one_block(s),
            OneBlock(what) => {
                Fast(what, 2).holds(s) && is_one_block(s) || is_of("small", what) && s.threads == 2
            }
            Slow(what) => is_chunk(what, 1) && !is_fast,
            Constant(what) => is_chunk(what, 1) && s.case.starts_with("zeros"),
            Group(group, what) => is_of(group, what) && s.threads == 1,
            Threads => s.group == "threads" && s.what != "memcpy",
            Frame(what, case) => {
                let is_case = s.case.starts_with(case) && s.case.ends_with(" 800 bytes");
                is_of("frames", what) && is_case
            }
            Save => s.group == "save" && s.case.starts_with("10000 "),
            Open => is_of("open", "open") || is_of("frames", "open"),
            OpenMillion => Open.holds(s) && s.case.starts_with("1000000 "),
            Array(codec, what, threads) => {
                is_of("arrays", what) && s.setting.starts_with(codec) && s.threads == threads
            }
            Python(group, what) => is_of(group, what) && !s.setting.ends_with("processor time"),
            Even(what) => Python("bcolz", what).holds(s) && s.case.ends_with(" even float64"),
        }
    }
}

/// Whether each chunk is one block. At level 9 a chunk of 4 MiB is one block if its items have 8
/// bytes. (With 4 bytes it is two blocks, text is eight.) Zeros have no block.
fn is_one_block(s: &Subject) -> bool {
    let set = s.case.strip_suffix(" level 9");
    set.is_some_and(|set| ["f64_linspace", "i64_time", "sparse_f64"].contains(&set))
}

const ANY_OPEN: Goal = Goal {
    worst_of: Open,
    ..goal("open a frame of 1,000,000 chunks (worst: of any)", [20.0, 150.0, 1.0], OpenMillion)
};

const GOALS: &[Goal] = &[
    goal("shuffle, AVX-512", [1.3, 1.5, 0.95], Kernel("shuffle", "forward", "avx512")),
    goal("unshuffle, AVX-512", [1.1, 1.2, 0.95], Kernel("shuffle", "backward", "avx512")),
    goal("shuffle, AVX2", [1.0, 1.1, 0.95], Kernel("shuffle", "forward", "avx2")),
    goal("unshuffle, AVX2", [1.0, 1.0, 0.95], Kernel("shuffle", "backward", "avx2")),
    goal("bitshuffle, AVX-512", [2.5, 3.5, 2.0], Kernel("bitshuffle", "forward", "avx512")),
    goal("bitunshuffle, AVX-512", [3.0, 5.0, 2.0], Kernel("bitshuffle", "backward", "avx512")),
    goal("bitshuffle, AVX2", [1.15, 1.5, 1.0], Kernel("bitshuffle", "forward", "avx2")),
    goal("bitunshuffle, AVX2", [1.1, 1.6, 1.0], Kernel("bitshuffle", "backward", "avx2")),
    goal("BloscLZ compress", [1.15, 1.3, 0.95], Stream("compress", "blosclz 256K")),
    goal("BloscLZ decompress", [1.25, 1.5, 0.95], Stream("decompress", "blosclz 256K")),
    goal("BloscLZ compress, streams of 4 KiB", [1.5, 3.0, 1.0], Stream("compress", "blosclz 4K")),
    goal("LZ4 compress", [1.03, 1.1, 0.9], Stream("compress", "lz4 256K")),
    goal("LZ4 decompress", [1.0, 1.1, 0.9], Stream("decompress", "lz4 256K")),
    goal("LZ4HC compress", [0.95, 1.05, 0.85], Stream("compress", "lz4hc 256K")),
    goal("LZ4HC decompress", [1.0, 1.1, 0.85], Stream("decompress", "lz4hc 256K")),
    goal("zlib compress", [0.95, 1.0, 0.8], Stream("compress", "zlib 256K")),
    goal("zlib decompress", [1.05, 1.25, 0.9], Stream("decompress", "zlib 256K")),
    goal("Zstandard compress", [1.0, 1.02, 0.93], Stream("compress", "zstd 256K")),
    goal("Zstandard decompress", [0.97, 1.0, 0.93], Stream("decompress", "zstd 256K")),
    goal(
        "noise: LZ4HC, zlib, Zstandard above level 5",
        [5.0, 20.0, 1.0],
        Stream("compress", "noise, "),
    ),
    goal("chunks, BloscLZ and LZ4: compress", [1.15, 1.25, 0.95], Fast("compress", 1)),
    goal("the same: decompress into a hot buffer", [1.15, 1.3, 0.95], Fast("decompress", 1)),
    goal("the same: decompress a large array", [1.3, 1.45, 0.95], Group("array", "decompress")),
    goal("chunks, LZ4HC, zlib, Zstandard: compress", [1.0, 1.1, 0.9], Slow("compress")),
    goal("the same: decompress", [1.0, 1.1, 0.9], Slow("decompress")),
    goal("bitshuffle with BloscLZ or LZ4: compress", [1.2, 1.35, 1.0], Bits("compress")),
    goal("the same: decompress", [1.5, 1.8, 1.0], Bits("decompress")),
    goal("constant data: compress", [1.8, 2.5, 1.0], Constant("compress")),
    goal("constant data: decompress", [1.0, 1.2, 1.0], Constant("decompress")),
    // 0.05 above the requirement for one thread.
    goal("2 threads, several blocks: compress", [1.2, 1.3, 0.95], Blocks("compress")),
    goal("the same: decompress", [1.2, 1.3, 0.95], Blocks("decompress")),
    goal(
        "2 threads, chunks of one block, arrays of small chunks: compress",
        [1.6, 1.9, 1.2],
        OneBlock("compress"),
    ),
    goal("the same: decompress", [1.6, 1.9, 1.2], OneBlock("decompress")),
    // "Never slower" means a mean of 1.
    goal("2 threads against one of ours, 16 KiB to 4 MiB", [1.0, 1.0, 0.95], Threads),
    goal("small chunks, 32 KiB: compress", [1.0, 1.0, 0.95], Group("small", "compress")),
    goal("the same: decompress", [1.0, 1.0, 0.95], Group("small", "decompress")),
    goal("one item, of another block each time", [1.3, 2.5, 1.0], Group("items", "cold")),
    goal("one item, of the same block", [20.0, 100.0, 1.0], Group("items", "same block")),
    goal("append 1,000 chunks to a frame", [20.0, 50.0, 0.0], Frame("append all", "1000 chunks")),
    goal("append 50,000 chunks", [100.0, 300.0, 0.0], Frame("append all", "50000 chunks")),
    goal("save 10,000 chunks to a file or buffer", [50.0, 200.0, 0.0], Save),
    ANY_OPEN,
    goal("a random chunk of 800 bytes", [3.0, 6.0, 1.2], Frame("random chunk", "")),
    goal("all of an array, LZ4, 1 thread: write", [1.3, 2.0, 1.0], Array("lz4", "write all", 1)),
    goal("all of an array, LZ4, 1 thread: read", [1.3, 2.0, 1.0], Array("lz4", "read all", 1)),
    goal("all of an array, LZ4, 2 threads: write", [2.5, 4.0, 1.0], Array("lz4", "write all", 2)),
    goal("all of an array, LZ4, 2 threads: read", [2.5, 4.0, 1.0], Array("lz4", "read all", 2)),
    // These have no goal but the chunks', with two threads 0.05 above it.
    goal(
        "all of an array, Zstandard, 1 thread: write",
        [1.0, 1.1, 0.9],
        Array("zstd", "write all", 1),
    ),
    goal(
        "all of an array, Zstandard, 1 thread: read",
        [1.0, 1.1, 0.9],
        Array("zstd", "read all", 1),
    ),
    goal(
        "all of an array, Zstandard, 2 threads: write",
        [1.05, 1.25, 0.95],
        Array("zstd", "write all", 2),
    ),
    goal(
        "all of an array, Zstandard, 2 threads: read",
        [1.05, 1.25, 0.95],
        Array("zstd", "read all", 2),
    ),
    goal("Bloscpack files: pack", [1.5, 3.0, 1.0], Python("bloscpack", "pack")),
    goal("Bloscpack files: unpack", [1.5, 3.0, 1.0], Python("bloscpack", "unpack")),
    goal("bcolz: read all", [5.0, 10.0, 2.0], Even("read all")),
    goal("bcolz: one item at random", [3.0, 5.0, 2.0], Even("random items")),
    goal("bcolz: where", [5.0, 10.0, 2.0], Python("bcolz", "where")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Times;

    fn row(group: &'static str, what: &'static str, setting: &str, case: &str, ratio: f64) -> Row {
        let subject = Subject::new(group, what, setting, case);
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
        assert!(
            Stream("compress", "lz4hc 256K").holds(&s) && !Stream("compress", "lz4 256K").holds(&s)
        );
        let s = row("chunks", "compress", "lz4hc shuffle", "zeros level 5", 1.0).subject;
        assert!(
            Slow("compress").holds(&s)
                && !Fast("compress", 1).holds(&s)
                && Constant("compress").holds(&s)
        );
        let s = row("filters", "forward", "bitshuffle 4", "avx2 16K at 0 to 0", 1.0).subject;
        assert!(
            Kernel("bitshuffle", "forward", "avx2").holds(&s)
                && !Kernel("shuffle", "forward", "avx2").holds(&s)
        );
    }
}
