//! Conclusions from least and largest values, compared with the rows themselves.

use blosc_dtype::Dtype;
use blosc_dtype::expr::{Bounds, Expr, Vector};
use proptest::prelude::*;
use proptest::sample::select;

const NAMES: [&str; 5] = ["i", "u", "f", "t", "d"];
const CODES: [&str; 5] = ["<i4", "<u8", "<f8", "|b1", "<M8[s]"];

fn dtypes() -> [Dtype; 5] {
    CODES.map(|code| Dtype::parse(code).unwrap())
}

fn parse(text: &str) -> Expr {
    let expr = Expr::parse(text, &mut |name| NAMES.iter().position(|known| *known == name));
    let dtypes = dtypes();
    expr.and_then(|expr| expr.bind_dates(&|place| dtypes.get(place))).unwrap()
}

/// Items of a column of [`CODES`], or nulls.
type Column = Vec<Option<[u8; 8]>>;

fn bytes_of(place: usize, items: &[[u8; 8]]) -> Vec<u8> {
    items.iter().flat_map(|item| &item[..dtypes()[place].itemsize()]).copied().collect()
}

/// The bounds of a column, from its values one by one.
fn bounds(place: usize, column: &Column) -> Bounds {
    let dtype = &dtypes()[place];
    let items: Vec<Vec<u8>> =
        column.iter().flatten().map(|item| bytes_of(place, &[*item])).collect();
    let is_nan = |item: &&Vec<u8>| {
        place == 2 && f64::from_le_bytes(item.as_slice().try_into().unwrap()).is_nan()
    };
    let numbers: Vec<&Vec<u8>> = items.iter().filter(|item| !is_nan(item)).collect();
    // The ends are the pair that encloses all others.
    let pairs = numbers.iter().flat_map(|least| numbers.iter().map(move |most| (least, most)));
    let mut pairs = pairs.filter_map(|(least, most)| Bounds::of_items(dtype, least, most));
    let mut found = pairs
        .find(|found| {
            numbers.iter().all(|item| found.hold(&Vector::of_items(dtype, item).unwrap(), None))
        })
        .unwrap_or_default();
    found.has_nan = items.iter().any(|item| is_nan(&item));
    found.has_null = column.contains(&None);
    found
}

fn items(place: usize) -> BoxedStrategy<[u8; 8]> {
    let ints = |values: Vec<i64>| select(values).prop_map(i64::to_le_bytes).boxed();
    match place {
        0 => ints(vec![i32::MIN.into(), -2, -1, 0, 1, 3, i32::MAX.into()]),
        1 => select(vec![0, 1, 3, 1 << 53, (1 << 53) + 1, u64::MAX - 1, u64::MAX])
            .prop_map(u64::to_le_bytes)
            .boxed(),
        2 => {
            select(vec![f64::NAN, f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1.0, 9_007_199_254_740_992.0])
                .prop_map(f64::to_le_bytes)
                .boxed()
        }
        3 => ints(vec![0, 1]),
        _ => ints(vec![i64::MIN, -1, 0, 86_400, 86_401]),
    }
}

fn column(place: usize, nrows: usize) -> impl Strategy<Value = Column> {
    prop::collection::vec(prop::option::weighted(0.8, items(place)), nrows)
}

fn tables() -> impl Strategy<Value = [Column; 5]> {
    (0..5_usize).prop_flat_map(|nrows| [0, 1, 2, 3, 4].map(|place| column(place, nrows)))
}

fn conditions() -> impl Strategy<Value = String> {
    let op = || select(vec!["<", "<=", ">", ">=", "==", "!="]);
    let constants =
        vec!["-2", "0", "1", "0.5", "-1.5", "2**53", "9007199254740993", "1e999", "True"];
    let side = select(vec!["i", "u", "f", "t"]);
    let leaf = prop_oneof![
        (side.clone(), op(), select(constants)).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        (side.clone(), op(), side).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        (op(), select(vec!["1970-01-02", "1970-01-01T00:00:00.5", "NaT"]))
            .prop_map(|(op, date)| format!("(d {op} '{date}')")),
        select(vec!["t", "True", "False", "(i + 1 > 2)", "(i in (0, 3))", "(f between 0 and 1)"])
            .prop_map(str::to_owned),
        select(NAMES.to_vec()).prop_map(|name| format!("({name} is null)")),
        select(NAMES.to_vec()).prop_map(|name| format!("({name} is not null)")),
    ];
    leaf.prop_recursive(3, 10, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| format!("(not {inner})")),
            (inner.clone(), select(vec!["and", "or"]), inner)
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn no_row_is_true_that_bounds_exclude(
        columns in tables(),
        text in conditions(),
        is_known in any::<[bool; 5]>(),
    ) {
        let (expr, dtypes) = (parse(&text), dtypes());
        let nrows = columns[0].len();
        let bytes: Vec<Vec<u8>> = (0..5)
            .map(|place| {
                let items: Vec<[u8; 8]> =
                    columns[place].iter().map(|item| item.unwrap_or([0x5a; 8])).collect();
                bytes_of(place, &items)
            })
            .collect();
        let vectors: Vec<Vector<'_>> =
            (0..5).map(|place| Vector::of_items(&dtypes[place], &bytes[place]).unwrap()).collect();
        let valid = columns.each_ref().map(|c| c.iter().map(Option::is_some).collect::<Vec<_>>());
        let valid = valid.each_ref().map(|valid| Some(valid.as_slice()));
        let truth = expr.is_true(&vectors, &valid, nrows).unwrap();
        let known: Vec<Bounds> = (0..5).map(|place| bounds(place, &columns[place])).collect();
        for place in 0..5 {
            prop_assert!(known[place].hold(&vectors[place], valid[place]), "{:?}", known[place]);
        }
        let all: Vec<Option<Bounds>> = known.iter().copied().map(Some).collect();
        let some: Vec<Option<Bounds>> =
            all.iter().zip(is_known).map(|(bounds, known)| bounds.filter(|_| known)).collect();
        if truth.contains(&true) {
            prop_assert!(expr.may_be_true(&all) && expr.may_be_true(&some), "{} {:?}", text, all);
        }
        // For a single row the bounds decide every condition without arithmetic.
        if nrows == 1 && !text.contains("i + 1") {
            prop_assert_eq!(expr.may_be_true(&all), truth[0], "{} {:?}", text, all);
        }
    }
}

#[test]
fn conditions_exclude_what_they_should() {
    let int = |least: i32, most: i32| {
        Bounds::of_items(&dtypes()[0], &least.to_le_bytes(), &most.to_le_bytes())
    };
    let may = |text: &str, of: Option<Bounds>| parse(text).may_be_true(&[of]);
    for (text, expected) in [
        ("i > 20", false),
        ("i >= 20", true),
        ("20 < i", false),
        ("i < 10", false),
        ("i <= 10", true),
        ("i == 9", false),
        ("i == 15", true),
        ("i != 15", true),
        ("not i <= 20", false),
        ("i > 12 and i < 10", false),
        ("i > 30 or i < 10", false),
        ("i > 30 or i < 11", true),
        ("i between 21 and 40", false),
        ("i in (3, 4, 50)", false),
        ("i in (3, 14, 50)", true),
        ("i > 19.5 + 1", false),
        ("i is null", false),
        ("i is not null", true),
        ("i + 1 > 100", true),
        ("False", false),
    ] {
        assert_eq!(may(text, int(10, 20)), expected, "{text}");
        assert!(may(text, None) || text == "False", "{text}");
    }
    assert!(!may("i != 7", int(7, 7)) && may("i == 7", int(7, 7)));
    let mut nulls = Bounds::default();
    nulls.has_null = true;
    let nulls = Some(nulls);
    assert!(may("i is null", nulls) && !may("i is not null", nulls));
    assert!(!may("i > 0 or i <= 0 or i != 3", nulls));
}

#[test]
fn what_cannot_be_ends_is_none() {
    let [int, _, float, ..] = dtypes();
    assert_eq!(Bounds::of_items(&int, &2_i32.to_le_bytes(), &1_i32.to_le_bytes()), None);
    assert_eq!(Bounds::of_items(&int, &[], &[]), None);
    assert_eq!(Bounds::of_items(&int, &[0; 8], &[0; 8]), None);
    let float_ends = |a: f64, b: f64| Bounds::of_items(&float, &a.to_le_bytes(), &b.to_le_bytes());
    assert_eq!(float_ends(f64::NAN, 1.0), None);
    assert_eq!(float_ends(0.0, f64::NAN), None);
    assert!(float_ends(0.0, -0.0).is_some());
    let text = Dtype::parse("<U2").unwrap();
    assert_eq!(Bounds::of_items(&text, &[0; 8], &[0; 8]), None);
    let found = Bounds::of_items(&int, &[0; 4], &[5, 0, 0, 0]).unwrap();
    let ints = |value: i64| Vector::Int(vec![value].into());
    assert!(found.hold(&ints(5), None) && !found.hold(&ints(6), None));
    assert!(!found.hold(&ints(5), Some(&[false])));
    assert!(!found.hold(&Vector::Float(vec![f64::NAN].into()), None));
    assert!(!found.hold(&Vector::Text(vec![]), None));
}
