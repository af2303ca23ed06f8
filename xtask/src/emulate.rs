//! `cargo xtask emulate`: the tests of the libraries on other processors and systems.
//!
//! QEMU runs 64-bit Arm and two big-endian processors, Wine runs Windows, and 32-bit x86 runs as it
//! is. The task tests correctness only: the speed of an emulator says nothing about the processor.
//! `rustup` installs the standard library, the system has the rest; on Debian, all machines need
//! `qemu-user-static gcc-aarch64-linux-gnu gcc-powerpc64-linux-gnu gcc-s390x-linux-gnu
//! gcc-i686-linux-gnu gcc-mingw-w64-x86-64 wine64`.
//!
//! For 32-bit x86 the task also sends a file of over 2 GiB through the program `b2`: its length is
//! more than an `isize` counts there.

use std::{fs, path::Path, process::Command};

use crate::{
    args::Args,
    failure::{Context, Result, fail},
    memory, workspace,
};

/// The tested packages: all that the programs depend on.
const PACKAGES: [&str; 12] = [
    "blosc-filters",
    "blosc-codecs",
    "blosc-chunk",
    "blosc-io",
    "blosc-dtype",
    "blosc-threads",
    "blosc-container",
    "b2frame",
    "bloscpack",
    "bcolz-store",
    "b2store",
    "blosc-data",
];

/// The first two tests start their own program again, which the system cannot run without the
/// emulator. The children of the others hang in QEMU, which cannot fork beside other threads.
const STARTING: &str = "processes_take_turns
a_process_waits_for_another_and_a_killed_one_holds_nothing
a_child_reads_and_writes
forks::";

/// Tests that replace a file while it is open. Windows can do so since 2016, Wine 8 and 10 cannot.
const REPLACING: &str = include_str!("emulate/wine.txt");

/// A processor and a system.
struct Machine {
    name: &'static str,
    target: &'static str,
    linker: &'static str,
    /// The names of the program that runs others, if the system here cannot.
    emulators: &'static [&'static str],
    /// Tests that cannot run there: parts of their names, one in a line.
    skipped: &'static str,
}

const MACHINES: [Machine; 5] = [
    Machine {
        name: "aarch64",
        target: "aarch64-unknown-linux-gnu",
        linker: "aarch64-linux-gnu-gcc",
        emulators: &["qemu-aarch64-static", "qemu-aarch64"],
        skipped: STARTING,
    },
    Machine {
        name: "powerpc64",
        target: "powerpc64-unknown-linux-gnu",
        linker: "powerpc64-linux-gnu-gcc",
        emulators: &["qemu-ppc64-static", "qemu-ppc64"],
        skipped: STARTING,
    },
    Machine {
        name: "s390x",
        target: "s390x-unknown-linux-gnu",
        linker: "s390x-linux-gnu-gcc",
        emulators: &["qemu-s390x-static", "qemu-s390x"],
        skipped: STARTING,
    },
    Machine {
        name: "i686",
        target: "i686-unknown-linux-gnu",
        linker: "i686-linux-gnu-gcc",
        emulators: &[],
        skipped: "",
    },
    Machine {
        name: "windows",
        target: "x86_64-pc-windows-gnu",
        linker: "x86_64-w64-mingw32-gcc",
        emulators: &["wine64", "/usr/lib/wine/wine64", "wine"],
        skipped: REPLACING,
    },
];

/// The data that 32-bit x86 gets (MiB).
const OVER_2_GIB: u64 = 2100;

pub(crate) fn run(mut args: Args) -> Result<()> {
    let only: Option<String> = args.option("--only")?;
    let machine: Option<String> = args.option("--machine")?;
    args.finish()?;
    let name = machine.as_deref().unwrap_or(MACHINES[0].name);
    let Some(machine) = MACHINES.into_iter().find(|it| it.name == name) else {
        let names = MACHINES.map(|it| it.name).join(", ");
        return fail(format!("--machine {name}: none of {names}"));
    };
    workspace::run(Command::new("rustup").args(["target", "add", machine.target]))?;
    machine.test(only.as_deref())?;
    match machine.name {
        "i686" if only.is_none() => machine.send_large_file(),
        _ => Ok(()),
    }
}

impl Machine {
    /// Runs the tests of all packages, or of one.
    fn test(&self, only: Option<&str>) -> Result<()> {
        let mut cargo = self.cargo("test")?;
        cargo.arg("--no-fail-fast");
        for package in PACKAGES.into_iter().filter(|name| only.is_none_or(|only| only == *name)) {
            cargo.args(["--package", package]);
        }
        cargo.arg("--");
        self.skipped.lines().for_each(|name| {
            cargo.args(["--skip", name]);
        });
        workspace::run(&mut cargo)
    }

    /// Compresses and reads a file of over 2 GiB with the program for this machine.
    fn send_large_file(&self) -> Result<()> {
        workspace::run(self.cargo("build")?.args(["--package", "b2-cli", "--profile", "quick"]))?;
        let b2 = workspace::target().join(self.target).join("quick/b2");
        memory::bound(b2, OVER_2_GIB, memory::LIMIT)
    }

    /// Cargo with the variables for this target. Programs of Linux are linked statically, so that
    /// they need no C library of theirs here.
    fn cargo(&self, command: &str) -> Result<Command> {
        if !is_there(self.linker) {
            return fail(format!("{} is not there; see xtask/src/emulate.rs", self.linker));
        }
        let mut cargo = workspace::cargo();
        cargo.args([command, "--target", self.target]);
        cargo.env(workspace::target_variable(self.target, "LINKER"), self.linker);
        if self.target.contains("linux") {
            for flags in ["RUSTFLAGS", "RUSTDOCFLAGS"] {
                let flags = workspace::target_variable(self.target, flags);
                cargo.env(flags, "-C target-feature=+crt-static");
            }
        }
        if let [first, ..] = self.emulators {
            let Some(emulator) = self.emulators.iter().find(|name| is_there(name)) else {
                return fail(format!("{first} is not there; see xtask/src/emulate.rs"));
            };
            cargo.env(workspace::target_variable(self.target, "RUNNER"), emulator);
        }
        if self.name == "windows" {
            prepare_wine(&mut cargo, self.linker)?;
        }
        Ok(cargo)
    }
}

/// Gives Wine a folder for its settings, and a library that releases before 8.3 lack.
fn prepare_wine(cargo: &mut Command, compiler: &str) -> Result<()> {
    let folder = workspace::target().join("wine");
    fs::create_dir_all(&folder).at(folder.display())?;
    let mut build = Command::new(compiler);
    build.args(["-shared", "-o"]).arg(folder.join("bcryptprimitives.dll"));
    build.arg(workspace::root().join("xtask/c/bcryptprimitives.c")).arg("-ladvapi32");
    workspace::run(&mut build)?;
    cargo.env("WINEPREFIX", folder.join("prefix")).env("WINEDEBUG", "-all");
    cargo.env("WINEPATH", format!("Z:{}", folder.display()));
    Ok(())
}

fn is_there(program: &str) -> bool {
    Path::new(program).is_file()
        || Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success())
}
