//! Any bytes as a file for the reading commands of `b2`: recognition, sequences of frames, arrays
//! of NumPy, rescue.
#![no_main]

use blosc_fuzz::program::{Folder, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut data = data;
    let kind = blosc_fuzz::take(&mut data) % 6;
    let folder = Folder::of_process();
    let names = ["x.b2frame", "x", "x.blp", "x.b2z", "x.npy", "x.b2nd"];
    let file = folder.write(names[usize::from(kind)], data);
    run(&["info", "-v", &file]);
    run(&["list", &file]);
    let is_sound = run(&["verify", &file]);
    let is_read = run(&["cat", &file]);
    // An unknown file is passed on unchanged; a store is not a single value.
    if is_sound && data.starts_with(b"\x9e\xa8b2frame\0") && kind != 3 {
        assert!(is_read, "verified, and cannot be read");
    }
    run(&["info", &format!("{file}@1")]);
    run(&["show", "-n", "3", &file]);
    run(&["rescue", "-f", &file, "-o", &folder.path("saved")]);
    if names[usize::from(kind)] == "x.npy" {
        run(&["convert", "-f", &file, "-o", &folder.path("n.b2nd")]);
    }
});
