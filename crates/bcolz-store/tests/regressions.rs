//! Fixed defects, each with its smallest input.

use crate::arrays;

use bcolz_store::{
    OpenOptions,
    repair::{Fill, rescue_in},
    tree::Tree as _,
};

use arrays::{array, rows};

#[test]
fn a_length_without_chunks_is_not_filled_forever() {
    let tree = array(25);
    tree.write("a/meta/sizes", b"{\"shape\": [1000000000000], \"nbytes\": 0, \"cbytes\": 0}")
        .unwrap();
    tree.write("a/data/__3.blp", b"").unwrap();
    let found = rescue_in(tree.clone(), "a", &OpenOptions::default(), &Fill::Zeros.into()).unwrap();
    let expected = [
        "a: 40 rows, not 1000000000000",
        "a: filled chunk 2, 5 rows, with the fill value",
        "a: filled chunk 3, 10 rows, with the fill value",
    ];
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(texts, expected);
    assert!(found.iter().all(|action| action.what.is_loss()));
    assert_eq!(rows(&tree), (0..25).chain([-1; 15]).collect::<Vec<i8>>());
    // No chunk exists.
    let tree = array(25);
    tree.write("a/meta/sizes", b"{\"shape\": [1000000000000], \"nbytes\": 0, \"cbytes\": 0}")
        .unwrap();
    tree.remove("a/data").unwrap();
    assert!(rescue_in(tree, "a", &OpenOptions::default(), &Fill::Zeros.into()).is_err());
}

#[test]
fn an_array_without_its_data_is_not_everything() {
    for (fill, expected) in [(Fill::Zeros, vec![-1; 25]), (Fill::Cut, vec![])] {
        let tree = array(25);
        tree.remove("a/data").unwrap();
        let found =
            rescue_in(tree.clone(), "a", &OpenOptions::default(), &fill.clone().into()).unwrap();
        assert!(!found.is_empty() && found.iter().all(|action| action.what.is_loss()));
        assert_eq!(rows(&tree), expected);
    }
}
