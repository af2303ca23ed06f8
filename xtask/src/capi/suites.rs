//! Test suites of clients.

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Output},
    time::Instant,
};

use super::{
    clients::Clients,
    files::check_binding,
    library::{Libraries, Library, Way},
};
use crate::{
    failure::{Context, Result, fail},
    venv, workspace,
};

/// A suite of a client.
pub(super) struct Suite {
    pub(super) name: &'static str,
    /// Whether it takes minutes, and runs at night only.
    pub(super) is_long: bool,
    client: Client,
    /// The arguments for `capi_suite.py`.
    words: &'static [&'static str],
    /// A Python program that calls the library.
    probe: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Client {
    Wheel,
    Debian,
    /// The examples in C, compiled by the machine.
    Examples,
}

const NUMCODECS: &str = "import numcodecs; numcodecs.Blosc('lz4').encode(b'x' * 9999)";

pub(super) const SUITES: &[Suite] = &[
    Suite {
        name: "numcodecs of PyPI",
        is_long: false,
        client: Client::Wheel,
        words: &["pytest", "--pyargs", "numcodecs.tests.test_blosc"],
        probe: NUMCODECS,
    },
    Suite {
        name: "numcodecs of Debian",
        is_long: false,
        client: Client::Debian,
        words: &["pytest", "--pyargs", "numcodecs.tests.test_blosc"],
        probe: NUMCODECS,
    },
    Suite {
        name: "python-blosc of Debian",
        is_long: false,
        client: Client::Debian,
        words: &["blosc"],
        probe: "import blosc; blosc.compress(b'x' * 9999)",
    },
    Suite {
        name: "PyTables of Debian, parts with Blosc",
        is_long: false,
        client: Client::Debian,
        words: &["tables-part"],
        probe: TABLES,
    },
    Suite {
        name: "PyTables of Debian, all",
        is_long: true,
        client: Client::Debian,
        words: &["tables"],
        probe: TABLES,
    },
    Suite {
        name: "hdf5plugin of PyPI, Blosc",
        is_long: false,
        client: Client::Wheel,
        words: &["hdf5plugin"],
        probe: H5PY,
    },
    Suite {
        name: "examples of libblosc-dev",
        is_long: false,
        client: Client::Examples,
        words: &["simple", "many_compressors", "noinit", "multithread"],
        probe: "",
    },
];

const H5PY: &str = "
import h5py, hdf5plugin, tempfile
file = h5py.File(tempfile.mktemp(), 'w')
file.create_dataset('x', data=range(9999), **hdf5plugin.Blosc())
";

const TABLES: &str = "
import tables, tempfile
file = tables.open_file(tempfile.mktemp(), 'w')
filters = tables.Filters(5, 'blosc')
file.create_carray(file.root, 'x', obj=list(range(9999)), filters=filters)
file.close()
";

impl Suite {
    /// Runs the suite with both libraries.
    pub(super) fn check(&self, clients: &Clients, libraries: &Libraries) -> Result<()> {
        compare_outcomes(self.name, libraries.both(), |library| {
            self.check_binding(clients, library)?;
            self.outcomes(clients, library)
        })
    }

    /// The outcome of each test.
    fn outcomes(&self, clients: &Clients, library: &Library) -> Result<BTreeMap<String, String>> {
        if self.client == Client::Examples {
            return examples(self.words, clients, library);
        }
        let mut command = self.python(clients);
        self.prepare(&mut command, clients, library);
        outcomes_of(command, self.words)
    }

    /// Checks that the client calls this library, and no other.
    fn check_binding(&self, clients: &Clients, library: &Library) -> Result<()> {
        let mut command = match self.client {
            Client::Examples => example("simple", clients, library)?,
            Client::Wheel | Client::Debian => {
                let mut command = self.python(clients);
                command.args(["-c", self.probe]);
                command
            }
        };
        self.prepare(&mut command, clients, library);
        let output = command.env("LD_DEBUG", "bindings").output().at(self.name)?;
        let log = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return fail(format!("{}: {}", self.name, output.status));
        }
        check_binding(self.name, &log, "blosc_compress", library)
    }

    fn python(&self, clients: &Clients) -> Command {
        match self.client {
            Client::Wheel => Command::new(&clients.python),
            Client::Debian | Client::Examples => clients.debian_python(),
        }
    }

    fn prepare(&self, command: &mut Command, clients: &Clients, library: &Library) {
        let way = if self.client == Client::Wheel { Way::Preloaded } else { Way::Linked };
        library.put_into(command, way, clients);
        command.current_dir(&clients.folder);
    }
}

/// Runs a suite with both libraries: the same tests must pass.
pub(super) fn compare_outcomes(
    name: &str,
    libraries: [&Library; 2],
    run: impl Fn(&Library) -> Result<BTreeMap<String, String>>,
) -> Result<()> {
    let start = Instant::now();
    let [theirs, ours] = libraries.map(run);
    let (theirs, ours) = (theirs?, ours?);
    let count = |outcome: &str| ours.values().filter(|found| *found == outcome).count();
    if theirs != ours {
        return fail(format!("{name}: {}", differences(&theirs, &ours)));
    }
    if count("passed") == 0 {
        return fail(format!("{name}: no test passed"));
    }
    let (passed, failed) = (count("passed"), count("failed"));
    let seconds = start.elapsed().as_secs();
    println!("{name}: {passed} passed with both, {failed} failed with both, {seconds} s");
    Ok(())
}

/// The outcome of each test of a suite; `words` are the arguments for `capi_suite.py`.
pub(super) fn outcomes_of(mut python: Command, words: &[&str]) -> Result<BTreeMap<String, String>> {
    python.arg("-B").arg(venv::scripts().join("capi_suite.py")).args(words);
    let output = python.output().at(workspace::describe(&python))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match serde_json::from_str(said.lines().next_back().unwrap_or_default()) {
        Ok(outcomes) => Ok(outcomes),
        Err(_) => fail(format!("{}: {}", workspace::describe(&python), text(&output))),
    }
}

/// Runs the examples; each ends with 0 on success.
fn examples(
    names: &[&str],
    clients: &Clients,
    library: &Library,
) -> Result<BTreeMap<String, String>> {
    let mut outcomes = BTreeMap::new();
    for name in names {
        let mut command = example(name, clients, library)?;
        library.put_into(&mut command, Way::Linked, clients);
        let output = command.output().at(name)?;
        let outcome = if output.status.success() { "passed" } else { "failed" };
        outcomes.insert((*name).to_owned(), outcome.to_owned());
    }
    Ok(outcomes)
}

/// Compiles an example against Debian's package.
fn example(name: &str, clients: &Clients, library: &Library) -> Result<Command> {
    let folder = clients.folder.join("examples");
    fs::create_dir_all(&folder).at(folder.display())?;
    let program = folder.join(name);
    let source = clients.debian(&format!("usr/share/doc/libblosc-dev/examples/{name}.c"));
    if !program.is_file() {
        let mut cc = Command::new("cc");
        cc.arg("-I").arg(clients.debian("usr/include")).arg(&source).arg("-o").arg(&program);
        cc.arg(&library.file).arg("-lpthread");
        workspace::run(&mut cc)?;
    }
    let mut command = Command::new(program);
    command.current_dir(&folder).stdin(std::process::Stdio::null());
    Ok(command)
}

/// Some of the tests with different outcomes.
fn differences(theirs: &BTreeMap<String, String>, ours: &BTreeMap<String, String>) -> String {
    let names = theirs.keys().chain(ours.keys().filter(|name| !theirs.contains_key(*name)));
    let differing = names.filter(|name| theirs.get(*name) != ours.get(*name));
    let show = |found: Option<&String>| found.map_or("absent", |found| found).to_owned();
    let lines = differing.map(|name| {
        format!(
            "\n  {name}: {} with C-Blosc, {} with ours",
            show(theirs.get(name)),
            show(ours.get(name))
        )
    });
    lines.take(20).collect()
}

fn text(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let end: Vec<&str> = said.lines().rev().take(20).collect();
    format!("{}\n{}", output.status, end.into_iter().rev().collect::<Vec<_>>().join("\n"))
}
