//! The program with a web server in the same process.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in small files"
)]

#[path = "support/samples.rs"]
mod samples;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../../blosc-object-store/tests/support/server.rs"]
mod server;

use core::sync::atomic::Ordering;

use samples::{compare, run, transferred};
use server::{Fault, Server, files_in};

#[test]
fn commands_over_addresses_print_what_they_print_over_files() {
    let dir = tempfile::tempdir().unwrap();
    samples::write(dir.path());
    let server = Server::start(files_in(dir.path()), Fault::None);
    compare(dir.path(), &server.address, &[]);
    assert!(server.requests.load(Ordering::Relaxed) > 0);

    // A file of a megabyte, of which a part is fetched.
    let slice = run(&server.address, &["show", "-v", "--slice", "70,:3", "x.b2nd"], &[]);
    let (nbytes, rounds) = transferred(&slice);
    let len = std::fs::metadata(dir.path().join("x.b2nd")).unwrap().len();
    assert!(nbytes < 150_000.min(len + 90_000) && rounds <= 3, "{nbytes} of {len}: {slice:?}");
}

#[test]
fn errors_of_opening_name_the_address() {
    let dir = tempfile::tempdir().unwrap();
    samples::write(dir.path());
    let server = Server::start(files_in(dir.path()), Fault::None);
    let none = run(&server.address, &["info", "none.b2nd"], &[]);
    assert_eq!(none.code, Some(3), "{none:?}");
    assert_eq!(none.stderr, format!("b2: {}/none.b2nd: not found\n", server.address));
    let replaced = Server::start(files_in(dir.path()), Fault::Replaced);
    let broken = run(&replaced.address, &["cat", "x.b2frame"], &[]);
    assert_eq!(broken.code, Some(3), "{broken:?}");
    assert!(!broken.stderr.is_empty(), "{broken:?}");
    // A server without ranges sends whole files.
    let whole = Server::start(files_in(dir.path()), Fault::NoRanges);
    let args = &["show", "--slice", "70,:3", "x.b2nd"];
    let (near, far) = (run(&server.address, args, &[]), run(&whole.address, args, &[]));
    assert_eq!((far.code, near.stdout == far.stdout), (Some(0), true), "{far:?}");
    // Commands cannot write to an address.
    let append = run(&server.address, &["append", "--quiet", "x.b2nd"], &[]);
    assert_ne!(append.code, Some(0), "{append:?}");
}
