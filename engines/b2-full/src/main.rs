//! The program `b2` with arrays of Zarr and HDF5, and with addresses.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    b2_cli::run_with(std::env::args_os(), b2_full::openers()).into()
}
