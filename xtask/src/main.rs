//! Development tasks: `cargo xtask TASK [OPTIONS]`.
//!
//! One table has all tasks; each is a function in the module of its name. The stages of CI are
//! tasks too, so a contributor can run all of it.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod api;
mod args;
mod bench_peers;
mod builds;
mod capi;
mod conformance;
mod contend;
mod crash;
mod damage;
mod dist;
mod docs;
mod emulate;
mod engines;
mod fixtures;
mod fuzz;
mod instructions;
mod interop;
mod invariants;
mod memory;
mod metadata;
mod mutate;
mod programs;
mod python;
mod same_bytes;
mod script;
mod stages;
mod tools;
mod venv;
mod web;
mod workspace;

use std::process::ExitCode;

use args::Args;
use blosc_trials::failure::{self, Result};

/// One task of the table.
struct Task {
    name: &'static str,
    run: fn(Args) -> Result<()>,
    help: &'static str,
}

const TASKS: &[Task] = &[
    Task {
        name: "api",
        run: api::run,
        help: "compare the public interfaces with docs/api [--only CRATE] [--update]",
    },
    Task {
        name: "bench-peers",
        run: bench_peers::run,
        help: "speed and size against C-Blosc2 in one process [quick|full] [--only GROUP] [--runs N] [--python PATH]",
    },
    Task {
        name: "bench-programs",
        run: programs::run,
        help: "whole programs on one file, in turns [bloscpack|frames] [--mib N] [--rounds N] [--folder DIR] [--python PATH]",
    },
    Task {
        name: "builds",
        run: builds::run,
        help: "check every feature of the published crates, other targets, and the lowest versions of dependencies [--only features|targets|lowest]",
    },
    Task {
        name: "capi",
        run: capi::run,
        help: "programs that use libblosc, with C-Blosc and with ours [bench|random] [--only NAME] [--all] [--update] [--seed N] [--cases N] [--case N]",
    },
    Task {
        name: "check",
        run: stages::check,
        help: "before a commit: format, invariants, tests, lints",
    },
    Task { name: "ci", run: invariants::run, help: "check the invariants of docs/architecture.md" },
    Task {
        name: "conformance",
        run: conformance::run,
        help: "the suite for all readers of the formats: ours, or all [--all] [--record] [--seeds DIR] [--program B2]",
    },
    Task {
        name: "contend",
        run: contend::run,
        help: "change one file with several b2 at a time [--pairs N] [--groups N] [--seed N] [--only CONTAINER] [--program B2]",
    },
    Task {
        name: "crash",
        run: crash::run,
        help: "interrupt every change in every way [--seconds N] [--seed N] [--only CONTAINER] [--round N] [--originals N]",
    },
    Task {
        name: "damage",
        run: damage::run,
        help: "damage sealed and unsealed containers, verify and rescue them [--seconds N] [--seed N] [--only CONTAINER] [--case N | --sweep [--bytes N] | --flips N]",
    },
    Task {
        name: "dist",
        run: dist::run,
        help: "build the release archive: programs, manual, completions, schemas; or the C libraries [--capi] [--target TRIPLE] [--features LIST] [--try]",
    },
    Task {
        name: "docs",
        run: docs::run,
        help: "make manual pages of docs/*.md and the pictures in docs/images [--only pages] [--program B2]",
    },
    Task {
        name: "emulate",
        run: emulate::run,
        help: "run the tests of the libraries on another processor or system [--machine aarch64|powerpc64|s390x|i686|windows] [--only PACKAGE]",
    },
    Task {
        name: "engines",
        run: engines::run,
        help: "the joins with engines: install the S3 of their tests, ask other programs [emulator|oracles]",
    },
    Task {
        name: "fixtures",
        run: fixtures::run,
        help: "regenerate conformance/samples/*/generated with the oracles [--python PATH]",
    },
    Task {
        name: "fuzz",
        run: fuzz::run,
        help: "run the fuzz targets, or one of them, from the fixtures [TARGET] [--seconds N]",
    },
    Task {
        name: "instructions",
        run: instructions::run,
        help: "count the instructions of five hot cases with valgrind, against xtask/instructions.txt [update]",
    },
    Task {
        name: "interop",
        run: interop::run,
        help: "random data to the oracles and back [--seed N] [--cases N] [--only KIND] [--case N] [--jobs N] [--parquet] [--program B2]",
    },
    Task {
        name: "memory",
        run: memory::run,
        help: "send a large file and a pipe through b2 and watch its memory [--mib N] [--limit MIB] [--program B2]",
    },
    Task {
        name: "mutate",
        run: mutate::run,
        help: "damage chunks and containers and read them in every way [--cases N] [--files N] [--seed N] [--case N | --file N]; with --commands, by all commands of b2 [--files N] [--jobs N] [--case N]",
    },
    Task {
        name: "python",
        run: python::run,
        help: "the Python package: its wheels, its tests, or its speed [bench] [--examples N] [--rounds N]",
    },
    Task {
        name: "same-bytes",
        run: same_bytes::run,
        help: "compare what two builds of b2 write --before B2 [--after B2]",
    },
    Task {
        name: "stages",
        run: stages::run,
        help: "all that is asked of a change, and a table of times [--tier check|change|night] [--only STAGE] [--list]",
    },
    Task {
        name: "timed",
        run: stages::times::run,
        help: "run a program of tests and note the time of each PROGRAM [ARGUMENTS]",
    },
    Task {
        name: "web",
        run: web::run,
        help: "the libraries in browsers, and the page: compile and test it under Node and in Chromium [check|build|test] [--images DIR]",
    },
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        usage();
        return ExitCode::from(2);
    };
    match (task.run)(Args::new(words)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask {name}: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn usage() {
    eprintln!("usage: cargo xtask TASK [OPTIONS]\n");
    for task in TASKS {
        eprintln!("  {:<14} {}", task.name, task.help);
    }
}
