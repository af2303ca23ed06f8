//! Fixed defects, each with its smallest input.

use blosc_dtype::Dtype;

/// The parser read `\0` alone, so the digits after it became characters.
#[test]
fn octal_escapes_have_up_to_three_digits() {
    let name = |text: &str| Dtype::parse(text).unwrap().fields()[0].name().to_string();
    assert_eq!(name(r"[('a\0b', '<i4')]"), "a\0b");
    assert_eq!(name(r"[('\101\12\0019', '<i4')]"), "A\n\u{1}9");
    assert_eq!(name(r"[('\777', '<i4')]"), "\u{1ff}");
    assert!(Dtype::parse(r"[('\8', '<i4')]").is_err());
}
