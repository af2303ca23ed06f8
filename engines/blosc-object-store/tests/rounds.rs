//! The rounds of requests of opening and reading.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in small files"
)]

#[allow(dead_code, reason = "the example prints more of it")]
#[path = "../examples/rounds.rs"]
mod example;

use core::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn opening_and_parts_take_two_rounds_and_none_again() {
    let rows = example::rows(30, Duration::from_millis(1)).await.unwrap();
    assert!(rows.len() > 15, "{}", rows.len());
    for row in &rows {
        let most = match row.what.as_str() {
            again if again.ends_with(", again") => 0,
            "few.b2nd: open" | "many.b2nd: open" | "long.b2nd: open" => 1,
            // The listing, and the metadata of all columns.
            "t.bcolz: open" => 2,
            // The directory of the archive, and the ends of all members.
            "t.b2z: open" => 2,
            _ => 2,
        };
        assert!(row.is_right, "{row:?}");
        assert!(row.counts.rounds <= most, "{row:?}");
        assert_eq!(row.counts.requests == 0, row.counts.rounds == 0, "{row:?}");
    }
}
