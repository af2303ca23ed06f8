//! `cargo xtask emulate`: the tests of the libraries on another processor, by QEMU.
//!
//! The task tests correctness only: the speed of an emulator says nothing about the processor. It
//! needs QEMU's programs, and the C compiler and C library of the target (Debian:
//! `qemu-user-static`, and for 64-bit Arm `gcc-aarch64-linux-gnu` and `libc6-dev-arm64-cross`).
//! `rustup` installs the standard library. Two of the processors are big-endian.

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

/// The processors by Rust's name, with QEMU's.
const MACHINES: [(&str, &str); 3] =
    [("aarch64", "qemu-aarch64"), ("powerpc64", "qemu-ppc64"), ("s390x", "qemu-s390x")];

pub(crate) fn run(mut args: Args) -> Result<()> {
    let only: Option<String> = args.option("--only")?;
    let machine: Option<String> = args.option("--machine")?;
    args.finish()?;
    let machine = machine.as_deref().unwrap_or(MACHINES[0].0);
    let Some((name, qemu)) = MACHINES.into_iter().find(|(name, _)| *name == machine) else {
        return fail(format!(
            "--machine {machine}: none of {}",
            MACHINES.map(|it| it.0).join(", ")
        ));
    };
    let linker = format!("{name}-linux-gnu-gcc");
    if !is_there(&linker) {
        return fail(format!("{linker} is not there; see xtask/src/emulate.rs"));
    }
    let emulators = [qemu.to_owned(), format!("{qemu}-static")];
    let Some(emulator) = emulators.iter().find(|name| is_there(name)) else {
        return fail(format!("{} is not there; see xtask/src/emulate.rs", emulators.join(" or ")));
    };
    let target = format!("{name}-unknown-linux-gnu");
    workspace::run(Command::new("rustup").args(["target", "add", &target]))?;
    let mut cargo = workspace::cargo();
    cargo
        .args(["test", "--no-fail-fast", "--target", &target])
        .env(workspace::target_variable(&target, "LINKER"), &linker)
        .env(
            workspace::target_variable(&target, "RUNNER"),
            format!("{emulator} -L /usr/{name}-linux-gnu"),
        );
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
