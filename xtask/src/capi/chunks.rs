//! libblosc2, as far as it exists: names, layouts of structs, memory, HDF5's filter, random calls.
//!
//! C-Blosc2 is the library and header in the wheel of python-blosc2.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    filter::{self, Tables},
    matrix,
    symbols::exported,
};
use crate::{
    failure::{Context, Result, fail},
    venv, workspace,
};

/// The name by which programs know the library.
pub(crate) const SONAME: &str = "libblosc2.so.9";
/// The name of C-Blosc2 2.23, whose structs differ.
pub(crate) const OLDER: &str = "libblosc2.so.7";

/// Options of a run.
pub(super) struct Options {
    pub(super) seed: u64,
    /// Sequences of random calls.
    pub(super) cases: u32,
    /// The only sequence to run.
    pub(super) case: Option<u32>,
    /// Whether the table of functions is written instead of compared.
    pub(super) is_updated: bool,
    /// Leaves out the library with the older structs, and so PyTables.
    pub(super) is_short: bool,
}

/// Runs all checks.
pub(super) fn check(options: &Options) -> Result<()> {
    let requirements = workspace::root().join("xtask/capi/blosc2.txt");
    let python = venv::made("capi-clients/blosc2", &requirements)?;
    let wheel = wheel(&python)?;
    let theirs = wheel.join("lib").join(SONAME);
    if options.case.is_none() {
        // The newer release is built last, so that its build stays.
        let tables = match options.is_short {
            true => None,
            false => Some(Tables::make(&build(OLDER)?)?),
        };
        let ours = build(SONAME)?;
        let names = check_names(&theirs, &ours)?;
        if let Some(tables) = &tables {
            matrix::check(&names, tables.packages(), options.is_updated)?;
            tables.check()?;
        }
        let mut layouts = venv::script(&python, "capi2_layouts.py");
        workspace::run(layouts.arg(wheel.join("include")))?;
        check_memory(&wheel, &ours)?;
        filter::check(&theirs, &ours, options.is_short)?;
    }
    compare(&python, [&theirs, &build(SONAME)?], options)
}

/// Sends random calls to both libraries.
fn compare(python: &Path, [theirs, ours]: [&Path; 2], options: &Options) -> Result<()> {
    let Options { seed, cases, case, .. } = options;
    for (what, script) in
        [("chunks", "capi2_random.py"), ("super-chunks and arrays", "capi2_random_schunks.py")]
    {
        let mut random = venv::script(python, script);
        random.arg(theirs).arg(ours).args(["--seed", &seed.to_string()]);
        if let Some(case) = case {
            random.args(["--case", &case.to_string()]);
        }
        println!("random calls for {what}, {cases} sequences:");
        workspace::run(random.args(["--cases", &cases.to_string()]))?;
    }
    Ok(())
}

/// The folder of the package, as its interpreter reports it.
fn wheel(python: &Path) -> Result<PathBuf> {
    let find =
        "import importlib.util as u; print(u.find_spec('blosc2').submodule_search_locations[0])";
    let found = workspace::output(Command::new(python).args(["-c", find]))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&found).trim()))
}

/// Builds the optimised library with the structs of a release, under the name that programs look
/// for.
pub(crate) fn build(soname: &str) -> Result<PathBuf> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--quiet", "--profile", "capi", "--package", "libblosc2"]);
    if soname == OLDER {
        cargo.args(["--features", "soname-7"]);
    }
    workspace::run(&mut cargo)?;
    let folder = workspace::target().join("capi-clients/ours-2");
    fs::create_dir_all(&folder).at(folder.display())?;
    let (built, file) = (workspace::target().join("capi/libblosc2.so"), folder.join(soname));
    // A running program keeps the old file.
    let _absent = fs::remove_file(&file);
    fs::copy(&built, &file).at(built.display())?;
    Ok(file)
}

/// Checks that our library exports the functions of C-Blosc2, and nothing else.
fn check_names(theirs: &Path, ours: &Path) -> Result<BTreeSet<String>> {
    let is_function = |name: &String| name.starts_with("blosc") || name.starts_with("b2nd_");
    let theirs: BTreeSet<_> = exported(theirs)?.into_iter().filter(is_function).collect();
    let ours = exported(ours)?;
    if theirs != ours || ours.len() != 164 {
        let missing: Vec<_> = theirs.difference(&ours).collect();
        let more: Vec<_> = ours.difference(&theirs).collect();
        return fail(format!("libblosc2: missing {missing:?}, too many {more:?}"));
    }
    println!("libblosc2: {} functions, as in C-Blosc2", ours.len());
    Ok(ours)
}

/// Runs a C program under valgrind that calls the functions: no invalid access, no leak. Idle
/// threads of a pool may live until its end.
fn check_memory(wheel: &Path, ours: &Path) -> Result<()> {
    let program = ours.with_file_name("calls");
    let source = workspace::root().join("xtask/c/libblosc2_calls.c");
    let mut cc = Command::new("cc");
    cc.arg("-w").arg("-I").arg(wheel.join("include")).arg(source).arg("-o").arg(&program);
    workspace::run(cc.arg(ours))?;
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("capi: SKIPPED the calls under valgrind: the machine has no valgrind");
        return Ok(());
    }
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--leak-check=full", "--error-exitcode=9"]);
    valgrind.arg("--errors-for-leak-kinds=definite,indirect");
    valgrind.arg("--show-leak-kinds=definite,indirect").arg(&program);
    let folder = ours.parent().unwrap_or(ours);
    workspace::run(valgrind.env("LD_LIBRARY_PATH", folder).current_dir(folder))
}
