//! The stages: name, command, first tier, its files, the reason.

use core::{fmt, str::FromStr, time::Duration};

/// The extent of checking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tier {
    Check,
    Change,
    Night,
}

impl Tier {
    pub(super) fn aim(self) -> Duration {
        Duration::from_secs(match self {
            Self::Check => 5 * 60,
            Self::Change => 20 * 60,
            Self::Night => 8 * 3600,
        })
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Check => "check",
            Self::Change => "change",
            Self::Night => "night",
        })
    }
}

impl FromStr for Tier {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "check" => Ok(Self::Check),
            "change" => Ok(Self::Change),
            "night" => Ok(Self::Night),
            _ => Err("check, change or night"),
        }
    }
}

/// The files that a stage checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// All files.
    Always,
    /// All but documents.
    Code,
    /// The joins with engines, and the crates that they use.
    EnginesOrUsed,
    /// The joins with engines.
    Engines,
    /// The Python package, and the crates that it uses.
    PythonOrUsed,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    pub(super) name: &'static str,
    tier: Tier,
    command: &'static str,
    /// A longer command for the night.
    at_night: Option<&'static str>,
    pub(super) when: When,
    pub(super) why: &'static str,
}

impl Stage {
    /// The command in a tier, if the stage belongs to it.
    pub(super) fn command(&self, tier: Tier) -> Option<&'static str> {
        match (self.tier <= tier, tier, self.at_night) {
            (false, ..) => None,
            (true, Night, Some(longer)) => Some(longer),
            (true, ..) => Some(self.command),
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7} {:<36} {}\n{:45}{}", self.tier, self.name, self.why, "", self.command)?;
        match self.at_night {
            None => Ok(()),
            Some(longer) => write!(f, "\n{:45}at night: {longer}", ""),
        }
    }
}

const fn stage(
    tier: Tier,
    name: &'static str,
    command: &'static str,
    when: When,
    why: &'static str,
) -> Stage {
    Stage { name, tier, command, at_night: None, when, why }
}

/// A stage that does more at night.
const fn longer(command: &'static str, stage: Stage) -> Stage {
    Stage { at_night: Some(command), ..stage }
}

use Tier::{Change, Check, Night};
use When::{Always, Code, Engines, EnginesOrUsed, PythonOrUsed};

/// The stages, cheap ones first. `xtask` is this program, `engines` is cargo in that workspace,
/// `$built` the folder of programs, `$seed` a number.
pub(super) const STAGES: &[Stage] = &[
    stage(Check, "format", "cargo fmt --all --check", Code, "diffs show what was changed"),
    stage(Check, "invariants", "xtask ci", Always, "the rules that architecture.md states"),
    stage(
        Check,
        "tests, as in the README",
        "cargo test --workspace",
        Always,
        "all tests of default builds, documents and their examples",
    ),
    stage(
        Check,
        "clippy",
        "cargo clippy --workspace --all-targets --all-features --quiet -- -D warnings",
        Code,
        "lints, and a compile of what is not in default builds",
    ),
    stage(
        Change,
        "no default features",
        "cargo check --workspace --lib --no-default-features --exclude b2-cli --exclude b2-web --exclude b2-web-codec --exclude b2-program --exclude blosc-capi --exclude blpk --exclude libblosc --exclude libblosc2 --exclude xtask --exclude blosc-peers --exclude blosc-trials --quiet",
        Code,
        "dependents leave out codecs and threads",
    ),
    stage(
        Change,
        "web: libraries",
        "xtask web check",
        Code,
        "browsers have no C code, files, clocks or threads; needs Node",
    ),
    stage(
        Change,
        "web: page",
        "xtask web test",
        Code,
        "the module answers as the native build does, and the page shows it; needs Node and Chromium",
    ),
    stage(
        Change,
        "docs",
        "RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps --quiet",
        Code,
        "links and examples of the libraries' pages",
    ),
    stage(
        Change,
        "packages",
        "cargo publish --dry-run --workspace --quiet --no-verify --allow-dirty",
        Code,
        "the crates can be published, in their order",
    ),
    stage(Change, "interfaces", "xtask api", Code, "a changed interface is seen in the change"),
    longer(
        "xtask conformance --all --program $built/b2",
        stage(
            Change,
            "conformance",
            "xtask conformance --program $built/b2",
            Always,
            "our readers have no wrong case, and the cases are what their builders make",
        ),
    ),
    longer(
        "xtask interop --seed $seed --program $built/b2",
        stage(
            Change,
            "interop",
            "xtask interop --cases 40 --program $built/b2",
            Code,
            "original programs read what we write, and we what they write",
        ),
    ),
    longer(
        "xtask contend --seed $seed --program $built/b2 --pairs 12 --groups 4",
        stage(
            Change,
            "contend",
            "xtask contend --program $built/b2 --pairs 2 --groups 1",
            Code,
            "writers at the same time do not harm each other",
        ),
    ),
    // The tests of `blosc-trials` are its small run.
    stage(
        Night,
        "crash",
        "xtask crash --seed $seed --seconds 300",
        Code,
        "old state or new, never between",
    ),
    longer(
        "xtask damage --seed $seed --seconds 300",
        stage(Change, "damage", "xtask damage --seconds 10", Code, "damage is told and rescued"),
    ),
    longer(
        "xtask damage --flips 1000",
        stage(Change, "flipped bits", "xtask damage --flips 100", Code, "checksums cover all"),
    ),
    longer(
        "xtask mutate --seed $seed --cases 1000000",
        stage(Change, "mutate", "xtask mutate --cases 10000", Code, "hostile files do no harm"),
    ),
    stage(
        Change,
        "engines: format",
        "engines fmt --all --check",
        Engines,
        "diffs show what was changed",
    ),
    stage(
        Change,
        "engines: clippy",
        "engines clippy --workspace --all-targets --all-features --quiet -- -D warnings",
        EnginesOrUsed,
        "interfaces that engines use still fit",
    ),
    stage(
        Change,
        "engines: S3 emulator",
        "xtask engines emulator",
        Engines,
        "the tests' object store",
    ),
    stage(
        Change,
        "engines: tests",
        "engines test --workspace --all-features",
        Engines,
        "Zarr, HDF5, DataFusion, object stores",
    ),
    longer(
        "xtask python --examples 10000",
        stage(
            Change,
            "python: wheel and tests",
            "xtask python",
            PythonOrUsed,
            "the wheel is built, its stubs are true, NumPy and other programs agree",
        ),
    ),
    longer(
        "xtask capi chunks --seed $seed --cases 20000",
        stage(
            Change,
            "capi: a selection",
            "xtask capi change",
            Code,
            "programs of others run on our C libraries, whose results are those of C-Blosc and C-Blosc2",
        ),
    ),
    stage(
        Night,
        "capi: clients of libblosc",
        "xtask capi --all",
        Code,
        "programs of others pass their own tests with our library; ours and C-Blosc agree",
    ),
    stage(
        Night,
        "python: speed",
        "xtask python bench",
        PythonOrUsed,
        "an optimised wheel beside python-blosc2 and numcodecs, in turns",
    ),
    stage(
        Night,
        "engines: oracles",
        "xtask engines oracles",
        EnginesOrUsed,
        "zarr-python reads our arrays, NumPy agrees with our queries",
    ),
    stage(
        Night,
        "clippy, default features",
        "cargo clippy --workspace --all-targets --quiet -- -D warnings",
        Code,
        "what stands in for a feature that is off",
    ),
    stage(
        Night,
        "build with all commands",
        "cargo build --workspace --bins --tests --features xtask/commands --quiet",
        Code,
        "the task of the next stage, built as everything else",
    ),
    stage(
        Night,
        "mutate, all commands",
        "$built/xtask mutate --commands --seed $seed --files 5000",
        Code,
        "hostile files do no harm to any command",
    ),
    stage(
        Night,
        "tests with all features",
        "cargo test -p blosc-io -p b2frame -p b2store -p bcolz-store -p blosc-dtype -p blosc-data -p b2-cli --all-features",
        Code,
        "Arrow, Parquet and others, which no crate of the workspace turns on",
    ),
    stage(
        Night,
        "features and targets",
        "xtask builds",
        Code,
        "each feature alone, 32 bits, Arm, WebAssembly",
    ),
    stage(
        Night,
        "build without C",
        "CC=false cargo build -p b2-cli --no-default-features --quiet",
        Code,
        "reading needs no C compiler; only the encoder of Zstandard does",
    ),
    stage(
        Night,
        "benches compile",
        "cargo bench --workspace --bench * --no-run --profile dev --quiet",
        Code,
        "nobody else builds them",
    ),
    stage(
        Night,
        "memory",
        "xtask memory --mib 512 --program $built/b2",
        Code,
        "memory is bounded whatever the file's size",
    ),
    stage(
        Night,
        "instructions",
        "xtask instructions",
        Code,
        "hot loops have not become slower; needs valgrind and a release build",
    ),
    stage(
        Night,
        "release",
        "xtask dist --try",
        Code,
        "the archive and the packages are installed, used and removed; needs musl-tools, dpkg and rpm",
    ),
    stage(
        Night,
        "64-bit Arm",
        "xtask emulate --machine aarch64",
        Code,
        "another processor and other kernels; needs what xtask/src/emulate.rs lists, as the next ones",
    ),
    stage(
        Night,
        "big-endian",
        "xtask emulate --machine s390x",
        Code,
        "files are little-endian on every processor",
    ),
    stage(
        Night,
        "32 bits",
        "xtask emulate --machine i686",
        Code,
        "lengths are longer than an address; files over 2 GiB",
    ),
    stage(
        Night,
        "Windows",
        "xtask emulate --machine windows",
        Code,
        "locks, renames and deletes of another system, by Wine",
    ),
    stage(
        Night,
        "first command",
        "cargo install --quiet --locked --profile quick --path crates/b2-cli --root $target/demo",
        Code,
        "the README's first command",
    ),
    stage(Night, "fuzz", "xtask fuzz --seconds 600", Code, "needs a nightly compiler"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_have_names_of_their_own_and_reasons() {
        for (n, stage) in STAGES.iter().enumerate() {
            assert!(STAGES[..n].iter().all(|before| before.name != stage.name), "{}", stage.name);
            assert!(!stage.why.is_empty(), "{}", stage.name);
        }
    }

    #[test]
    fn commands_are_tasks_that_exist_or_cargo() {
        for command in STAGES.iter().filter_map(|stage| stage.command(Night)) {
            let mut words = command.split(' ').skip_while(|word| word.contains('='));
            match words.next() {
                Some("xtask" | "$built/xtask") => {
                    let name = words.next().unwrap();
                    assert!(crate::TASKS.iter().any(|task| task.name == name), "{name}");
                }
                Some("cargo" | "engines") => {}
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_later_tier_has_all_stages_of_an_earlier_one() {
        for stage in STAGES {
            let has = [Check, Change, Night].map(|tier| stage.command(tier).is_some());
            assert!(has.is_sorted(), "{}", stage.name);
        }
        assert_eq!(STAGES.iter().filter(|stage| stage.command(Night).is_none()).count(), 0);
    }

    /// A document of the repository.
    fn document(name: &str) -> String {
        std::fs::read_to_string(crate::workspace::root().join(name)).unwrap()
    }

    #[test]
    fn the_commands_of_the_readme_are_stages() {
        let readme = document("README.md");
        for (name, tier) in [("tests, as in the README", Check), ("first command", Night)] {
            let stage = STAGES.iter().find(|stage| stage.name == name).unwrap();
            let command = stage.command(tier).unwrap().replace("$target", "target");
            assert!(readme.contains(&format!("\n{command}\n")), "{command}");
        }
    }

    #[test]
    fn the_example_of_the_readme_is_one_that_tests_run() {
        let readme = document("README.md");
        let (_, example) = readme.split_once("```rust\n").unwrap();
        let (example, _) = example.split_once("```").unwrap();
        assert!(document("crates/blosc-chunk/README.md").contains(example));
    }
}
