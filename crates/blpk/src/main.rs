//! The binary `blpk`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    b2_cli::run_blpk(std::env::args_os()).into()
}
