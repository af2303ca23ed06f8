//! Each changing operation, interrupted in every way; the tests pin their numbers, so that none is
//! lost.

use core::time::Duration;

use blosc_trials::crash::{Settings, run};

/// Interrupts the operations of these containers, and compares their numbers.
#[track_caller]
fn interrupt(containers: &[(&str, usize)]) {
    for (container, noperations) in containers {
        let only = Some((*container).to_owned());
        let settings = Settings { seed: 1, time: Duration::MAX, only, rounds: 0..4 };
        let mut report = vec![];
        let counts = run(&settings, &mut |line| report.push(line));
        let counts = counts.unwrap_or_else(|failure| panic!("{}\n{failure}", report.join("\n")));
        let [count] = counts[..] else { panic!("{counts:?}") };
        assert_eq!((count.container, count.noperations), (*container, *noperations));
        assert!(count.nstates > 30 * count.noperations as u64, "{count:?}");
    }
}

#[test]
fn frames_are_old_or_new() {
    interrupt(&[("frame", 14), ("sparse-frame", 16)]);
}

#[test]
fn arrays_are_old_or_new() {
    interrupt(&[("b2nd", 7), ("sparse-b2nd", 7)]);
}

#[test]
fn bloscpack_files_are_old_or_new() {
    interrupt(&[("blp", 4)]);
}

#[test]
fn arrays_and_tables_of_bcolz_are_old_or_new() {
    interrupt(&[("carray", 11), ("ctable", 11)]);
}

#[test]
fn archives_are_old_or_new() {
    interrupt(&[("b2z", 24)]);
}

#[test]
fn directories_of_values_are_old_or_new() {
    interrupt(&[("b2d", 24)]);
}

#[test]
fn embedded_stores_are_old_or_new() {
    interrupt(&[("b2e", 23)]);
}
