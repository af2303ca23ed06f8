//! The binary `blpk`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    blpk::run(std::env::args_os()).into()
}
