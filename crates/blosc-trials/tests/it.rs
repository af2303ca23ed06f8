//! A small run of each property over all containers; the tests pin the counts, so that none is
//! lost.
//!
//! The tests run one at a time: the peak of memory and the last panic are those of the whole
//! process.

use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use blosc_trials::{
    container::{fixtures, samples},
    damage::{self, hit::Kind},
    mutate,
};

static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of a run; prints its report if it fails.
#[track_caller]
fn done<T>(
    run: impl FnOnce(&mut dyn FnMut(String)) -> Result<T, blosc_trials::failure::Failure>,
) -> T {
    let mut report = vec![];
    let outcome = run(&mut |line| report.push(line));
    outcome.unwrap_or_else(|failure| panic!("{}\n{failure}", report.join("\n")))
}

/// Samples, and whether each has checksums.
const SAMPLES: [(&str, bool); 20] = [
    ("frame", true),
    ("b2nd", true),
    ("sparse-frame", true),
    ("blp", true),
    ("carray", true),
    ("ctable", true),
    ("b2z", true),
    ("b2d", true),
    ("frame", false),
    ("b2nd", false),
    ("sparse-frame", false),
    ("blp", false),
    ("carray", false),
    ("ctable", false),
    ("b2z", false),
    ("b2d", false),
    ("b2e", false),
    ("chunk", false),
    ("chunk", false),
    ("chunk", false),
];

#[test]
fn every_container_has_a_sample() {
    let _alone = alone();
    let samples = samples().unwrap();
    assert_eq!(fixtures().unwrap().len(), 22);
    let found: Vec<_> = samples.iter().map(|one| (one.container, one.is_sealed)).collect();
    assert_eq!(found, SAMPLES);
    assert!(samples.iter().all(|sample| sample.rescue.is_some()));
}

#[test]
fn damage_of_every_kind_is_told_and_the_rest_comes_back() {
    let _alone = alone();
    let settings = damage::Settings { seed: 1, time: Duration::MAX, only: None, cases: 0..3000 };
    let counts = done(|say| damage::run(&settings, say));
    assert_eq!((counts.len(), Kind::ALL.len()), (SAMPLES.len(), 5));
    assert!(counts.iter().flatten().all(|(ncases, _)| *ncases > 10), "{counts:?}");
    for ((container, _), counts) in SAMPLES.iter().zip(counts) {
        let (ncuts, ntold) = counts[Kind::Cut as usize];
        // An empty file of attributes of bcolz is no damage.
        assert!(ncuts == ntold || ["carray", "ctable"].contains(container), "{container}");
    }
}

#[test]
fn whole_chunks_come_back_from_cut_and_torn_files() {
    let _alone = alone();
    let settings = damage::Settings { seed: 1, time: Duration::MAX, only: None, cases: 0..50 };
    let swept = done(|say| damage::sweep(&settings, 37, say));
    assert_eq!(swept.len(), 2 * SAMPLES.len() + 3 * 5);
    for one in swept {
        let is_cut = one.what.starts_with("cut");
        assert!(!is_cut || one.nback == one.nwhole, "{one:?}");
        assert!(one.ncases >= if is_cut { 50 } else { 1 }, "{one:?}");
    }
}

#[test]
fn every_class_of_byte_below_checksums_is_covered() {
    let _alone = alone();
    let settings = damage::Settings { seed: 1, time: Duration::MAX, only: None, cases: 0..60 };
    assert_eq!(done(|say| damage::flip_bits(&settings, say)), 41);
}

#[test]
fn hostile_chunks_give_data_or_an_error_in_bounded_memory() {
    let _alone = alone();
    let counts = done(|say| mutate::chunks(0..10_000, 1, say));
    assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
}

#[test]
fn hostile_containers_give_data_or_an_error_in_bounded_memory() {
    let _alone = alone();
    let counts = done(|say| mutate::containers(0..3000, 1, say));
    assert!(counts.iter().all(|count| *count > 80), "{counts:?}");
}
