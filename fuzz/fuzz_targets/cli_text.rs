//! Any text in place of a stranger's or user's text for `b2`: CSV, JSON for metadata, slices,
//! frames in a sequence (`FILE@N`, `FILE#N`), keys of stores (`FILE::KEY`), types.
#![no_main]

use blosc_fuzz::program::{Folder, run, take_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut data = data;
    let kind = blosc_fuzz::take(&mut data) % 9;
    let Some(text) = take_text(data) else { return };
    let folder = Folder::of_process();
    let array = folder.array();
    match kind {
        0 => {
            let table = folder.write("t.csv", data);
            run(&["convert", &table, "-f", "-o", &folder.path("t.bcolz")]);
            run(&["verify", &folder.path("t.bcolz")]);
        }
        1 => {
            let json = folder.write("m.json", data);
            if run(&["meta", "import", &array, &json]) {
                assert!(run(&["meta", "export", &array, "-f", "-o", &folder.path("o.json")]));
            }
        }
        2 => drop(run(&["meta", "set", &array, &format!("name={text}")])),
        3 => drop(run(&["show", &format!("--slice={text}"), &array])),
        4 => drop(run(&["cat", &format!("--items={text}"), &array])),
        5 => drop(run(&["info", &format!("{array}@{text}")])),
        6 => drop(run(&["extract", "-f", &format!("{array}#{text}"), "-o", &folder.path("o")])),
        7 => drop(run(&["show", &format!("{}::{text}", folder.store())])),
        _ => drop(run(&["show", &format!("--dtype={text}"), &array])),
    }
    assert!(run(&["verify", &array]));
});
