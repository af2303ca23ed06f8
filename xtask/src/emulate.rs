//! `cargo xtask emulate`: the tests of the libraries on another processor, by QEMU.
//!
//! It tests correctness only: the speed of an emulator says nothing about the processor. It needs
//! `qemu-aarch64` or `qemu-aarch64-static` and `aarch64-linux-gnu-gcc` (Debian: `qemu-user-static`,
//! `gcc-aarch64-linux-gnu` and `libc6-dev-arm64-cross`); `rustup` installs the standard library.

use std::process::Command;

use crate::{
    args::Args,
    failure::{Result, fail},
    workspace,
};

/// The tested packages: all that the other crates depend on.
const PACKAGES: [&str; 10] = [
    "blosc-filters",
    "blosc-codecs",
    "blosc-chunk",
    "blosc-io",
    "blosc-dtype",
    "blosc-container",
    "b2frame",
    "bloscpack",
    "bcolz-store",
    "b2store",
];
/// These tests start their own program again, which the system cannot run without the emulator.
const SKIPPED: [&str; 2] =
    ["processes_take_turns", "a_process_waits_for_another_and_a_killed_one_holds_nothing"];
const TARGET: &str = "aarch64-unknown-linux-gnu";
const LINKER: &str = "aarch64-linux-gnu-gcc";
const EMULATORS: [&str; 2] = ["qemu-aarch64", "qemu-aarch64-static"];
/// The folder with the libraries of the target.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

pub(crate) fn run(mut args: Args) -> Result<()> {
    let only: Option<String> = args.option("--only")?;
    args.finish()?;
    if !is_there(LINKER) {
        return fail(format!("{LINKER} is not there; see xtask/src/emulate.rs"));
    }
    let Some(emulator) = EMULATORS.into_iter().find(|name| is_there(name)) else {
        return fail(format!("{} is not there; see xtask/src/emulate.rs", EMULATORS.join(" or ")));
    };
    workspace::run(Command::new("rustup").args(["target", "add", TARGET]))?;
    let mut cargo = workspace::cargo();
    cargo
        .args(["test", "--no-fail-fast", "--target", TARGET])
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", format!("{emulator} -L {LIBRARIES}"));
    for package in PACKAGES.into_iter().filter(|name| only.as_deref().is_none_or(|o| o == *name)) {
        cargo.args(["--package", package]);
    }
    cargo.arg("--");
    SKIPPED.iter().for_each(|name| {
        cargo.args(["--skip", name]);
    });
    workspace::run(&mut cargo)
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
