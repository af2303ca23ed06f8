//! `cargo xtask web`: the libraries and the page as WebAssembly.
//!
//! `check` compiles the libraries for browsers, without C code and without an operating system, and
//! runs the tests of the filters with SIMD128 under Node: as programs of WASI, since a browser has
//! no tests. `build` makes the page in `web/dist`: the module, its scripts, and all of it in one
//! file, `b2.html`. `test` builds it, asks the module under Node what the native build answers, and
//! opens the page in Chromium.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    workspace,
};

/// The target for browsers: no files, no clock, no threads.
const BROWSER: &str = "wasm32-unknown-unknown";
/// The target for Node.
const WASI: &str = "wasm32-wasip1";
/// All browsers have had it since 2023.
const SIMD: &str = "-Ctarget-feature=+simd128";
/// The limit of a page is 1 GiB: a hostile file costs no more.
const MAX_MEMORY: &str = "-Clink-arg=--max-memory=1073741824";
/// Numbers of functions and addresses take as few bytes as they need, in place of five.
const SHORT: &str = "-Clink-arg=--compress-relocations";
/// The modules: crate, Cargo's name, the page's name, and the largest size after Zstandard
/// compression (bytes).
const MODULES: [(&str, &str, &str, u64); 2] = [
    ("b2-web", "b2_web.wasm", "b2.wasm", 700_000),
    ("b2-web-codec", "b2_web_codec.wasm", "codec.wasm", 110_000),
];
/// The paths of Chromium in Debian, and of Chrome on CI machines.
const BROWSERS: [&str; 2] = ["/usr/bin/chromium", "/usr/bin/google-chrome"];

pub(crate) fn run(mut args: Args) -> Result<()> {
    let images: Option<PathBuf> = args.option("--images")?;
    let word = args.word();
    args.finish()?;
    match word.as_deref() {
        None | Some("check") => check(),
        Some("build") => build(),
        Some("test") => test(images.as_deref()),
        Some(word) => fail(format!("{word}: no word, or check, build or test")),
    }
}

fn check() -> Result<()> {
    if lacks(&[BROWSER, WASI], &["node"]) {
        return Ok(());
    }
    let mut libraries = cargo("check", BROWSER, &[SIMD]);
    libraries.args(["--lib", "--no-default-features"]);
    for name in ["blosc-data", "b2-plot", "b2-view"] {
        libraries.args(["--package", name]);
    }
    workspace::run(&mut libraries)?;
    let mut readers = workspace::cargo();
    readers.args([
        "test",
        "--quiet",
        "--package",
        "blosc-codecs",
        "--no-default-features",
        "--lib",
    ]);
    workspace::run(readers.arg("builds_that_only_read"))?;
    let mut tests = cargo("test", WASI, &[SIMD]);
    tests.args(["--package", "blosc-filters", "--lib"]);
    // Cargo starts the program in the folder of the package.
    let runner = workspace::root().join("web/test/wasi.mjs");
    let runner = format!("node --no-warnings {}", runner.display());
    tests.env("CARGO_TARGET_WASM32_WASIP1_RUNNER", runner);
    workspace::run(&mut tests)
}

fn build() -> Result<()> {
    install(BROWSER)?;
    // An installation writes the second file.
    let [wanted, installed] = ["package-lock.json", "node_modules/.package-lock.json"]
        .map(|name| fs::metadata(folder().join(name)).and_then(|it| it.modified()).ok());
    if installed < wanted {
        // Scripts of packages must not run at their installation.
        workspace::run(web("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))?;
    }
    workspace::run(web("npx").args(["tsc", "--noEmit"]))?;
    workspace::run(web("npx").args(["tsc", "--project", "tsconfig.reader.json"]))?;
    for mode in ["production", "worker"] {
        let words = ["vite", "build", "--logLevel", "warn", "--mode", mode];
        workspace::run(web("npx").args(words))?;
    }
    let [root, home] = remapped();
    for (package, built, placed, max_nbytes) in MODULES {
        let mut module = cargo("build", BROWSER, &[SIMD, MAX_MEMORY, SHORT, &root, &home]);
        workspace::run(module.args(["--profile", "web", "--package", package, "--lib"]))?;
        let built = workspace::target().join(BROWSER).join("web").join(built);
        let placed = folder().join("packages/reader/dist").join(placed);
        fs::copy(&built, &placed).at(built.display())?;
        check_size(&placed, max_nbytes)?;
    }
    let module = folder().join("packages/reader/dist/b2.wasm");
    fs::copy(&module, folder().join("dist/b2.wasm")).at(module.display())?;
    workspace::run(web("node").args(["single.mjs", "dist", "dist/b2.html"]))
}

/// Flags that shorten the paths in panics: a module must not depend on where it was built.
fn remapped() -> [String; 2] {
    let home = || std::env::home_dir().unwrap_or_default().join(".cargo");
    let home = std::env::var_os("CARGO_HOME").map_or_else(home, PathBuf::from);
    let remap = |path: &Path, name: &str| format!("--remap-path-prefix={}={name}", path.display());
    [remap(&workspace::root(), ""), remap(&home.join("registry/src"), "")]
}

/// Prints the size of the module, and refuses one over its limit.
fn check_size(module: &Path, max_nbytes: u64) -> Result<()> {
    let packed = module.with_extension("wasm.zst");
    let mut zstd = Command::new("zstd");
    zstd.args(["-19", "--quiet", "--force"]).arg(module).arg("-o").arg(&packed);
    workspace::run(&mut zstd)?;
    let [nbytes, nbytes_packed] =
        [module, &packed].map(|path| fs::metadata(path).map(|it| it.len()));
    let (nbytes, nbytes_packed) = (nbytes?, nbytes_packed?);
    workspace::remove(&packed)?;
    let name = module.file_name().unwrap_or_default().display();
    println!("{name}: {nbytes} bytes, {nbytes_packed} compressed by zstd -19");
    match nbytes_packed <= max_nbytes {
        true => Ok(()),
        false => fail(format!("the limit is {max_nbytes} bytes")),
    }
}

fn test(images: Option<&Path>) -> Result<()> {
    if lacks(&[BROWSER], &["node", "npm", "zstd"]) {
        return Ok(());
    }
    build()?;
    let mut native = workspace::cargo();
    native.args(["run", "--quiet", "--package", "b2-web", "--example", "answers"]);
    let answers = workspace::target().join("web-answers.txt");
    fs::write(&answers, workspace::output(&mut native)?).at(answers.display())?;
    let mut tests = web("node");
    tests.args([
        "--test",
        "--test-reporter",
        "dot",
        "test/engine.test.mjs",
        "test/reader.test.mjs",
        "test/codec.test.mjs",
        "test/fuzz.test.mjs",
    ]);
    match BROWSERS.into_iter().find(|browser| Path::new(browser).exists()) {
        Some(browser) => {
            let mut program = workspace::cargo();
            // The same features as in the tests, so that few crates are built twice.
            program.args(["build", "--quiet", "--workspace", "--bins", "--tests"]);
            program.args(["--features", "b2-cli/web"]);
            workspace::run(&mut program)?;
            tests.env("B2", workspace::target().join("debug/b2"));
            tests
                .args(["test/browser.test.mjs", "test/view.test.mjs", "test/rounds.test.mjs"])
                .env("CHROMIUM", browser);
        }
        None => println!("NOT RUN: the tests in a browser, which need Debian's package chromium"),
    }
    if let Some(images) = images {
        tests.env("B2_IMAGES", std::path::absolute(images)?);
    }
    workspace::run(tests.env("B2_ANSWERS", answers))?;
    // The package consists of the files that would be published.
    let mut pack = web("npm");
    pack.args(["pack", "--silent", "--pack-destination"]).arg(workspace::target());
    workspace::run(pack.arg("./packages/reader"))
}

fn folder() -> PathBuf {
    workspace::root().join("web")
}

/// A command in the folder of the page.
fn web(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder());
    command
}

/// Reports targets that cannot be installed without a network; the caller then runs nothing.
fn lacks(targets: &[&str], programs: &[&str]) -> bool {
    let is_missing = |program: &&&str| Command::new(program).arg("--version").output().is_err();
    let target = targets.iter().find_map(|target| install(target).err());
    let program = programs.iter().find(is_missing).map(|program| format!("needs {program}"));
    let missing = target.map(|error| error.to_string()).or(program);
    if let Some(missing) = &missing {
        println!("NOT RUN: {missing}");
    }
    missing.is_some()
}

/// Installs the standard library of a target, if it is missing.
fn install(target: &str) -> Result<()> {
    match Command::new("rustup").args(["target", "add", target]).output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => fail(format!("{target}: needs rustup, to install its standard library")),
    }
}

fn cargo(task: &str, target: &str, flags: &[&str]) -> Command {
    let mut cargo = workspace::cargo();
    cargo.args([task, "--quiet", "--target", target]);
    // Flags with paths may have spaces.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    cargo
}
