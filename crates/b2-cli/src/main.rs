//! The binary `b2`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    b2_cli::run(std::env::args_os()).into()
}
