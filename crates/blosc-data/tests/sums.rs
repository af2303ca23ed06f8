//! Hashes of content: equal for equal values in every format.

use blosc_data::{
    Budget, OpenOptions,
    content::of_file,
    convert::{Conversion, OutputFormat, Settings},
    sum::{Algorithm, Entry, Sum, sum},
};

#[test]
fn the_same_values_have_the_same_sum_in_all_formats() {
    let dir = tempfile::tempdir().unwrap();
    let npy = dir.path().join("x.npy");
    let header = blosc_dtype::npy::NpyHeader::new("<u2".parse().unwrap(), vec![40, 50]);
    let items: Vec<u8> = (0..2000_u16).flat_map(u16::to_le_bytes).collect();
    std::fs::write(&npy, [header.to_bytes().unwrap(), items.clone()].concat()).unwrap();
    let content = of_file(&npy, &OpenOptions::default()).unwrap();
    let budget = Budget::default();
    let mut done = 0;
    let expected = sum(&content, Algorithm::Sha256, &budget, &mut |n| done += n).unwrap();
    assert_eq!((expected.nbytes, done, expected.format), (4000, 4000, "npy"));
    for format in [
        OutputFormat::B2nd,
        OutputFormat::Blp,
        OutputFormat::Carray,
        OutputFormat::Npy,
        OutputFormat::B2frame,
        OutputFormat::Sframe,
        OutputFormat::Chunk,
        OutputFormat::B2z,
    ] {
        let path = dir.path().join(format!("y{}", format.suffix()));
        let settings = Settings::default().format(format).key("/x".to_owned());
        let conversion =
            Conversion { content: &content, settings: &settings, dropped: &[], progress: &|_| () };
        conversion.write(&path).unwrap();
        let found = of_file(&path, &OpenOptions::default()).unwrap();
        let found = sum(&found, Algorithm::Sha256, &budget, &mut |_| ()).unwrap();
        assert_eq!((found.sum, found.nbytes), (expected.sum.clone(), 4000), "{}", path.display());
    }
}

#[test]
fn empty_content_has_a_sum_and_lines_of_lists_are_read() {
    let empty = Sum::new(Algorithm::Xxh3).finish();
    assert_eq!((empty.format, empty.sum.as_str()), ("empty", "2d06800538d394c2"));
    let digits = "0123456789abcDEF";
    for (line, name) in [(format!("{digits}  a b"), "a b"), (format!("{digits} *x"), "x")] {
        let entry = Entry::parse(line.as_bytes()).unwrap();
        assert_eq!((entry.algorithm, entry.sum), (Algorithm::Xxh3, digits));
        assert_eq!(entry.name, name.as_bytes());
    }
    for line in
        ["", "0123  x", &format!("{digits} x"), &format!("{digits}  "), "g123456789abcdef  x"]
    {
        assert_eq!(Entry::parse(line.as_bytes()), None, "{line}");
    }
    let json = serde_json::to_value(Sum::new(Algorithm::Sha256).finish()).unwrap();
    assert_eq!((&json["algorithm"], &json["nbytes"]), (&"sha256".into(), &0.into()));
}
