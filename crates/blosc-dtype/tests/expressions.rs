//! Expressions over columns: every type of item, precedence, nulls and dates, compared with
//! separate computations.

use blosc_dtype::expr::{Expr, ExprError, Stored, ValueType, Vector};
use blosc_dtype::{Dtype, calendar};
use proptest::prelude::*;
use proptest::sample::select;

fn dtype(text: &str) -> Dtype {
    Dtype::parse(text).unwrap()
}

/// The expression of a text over columns with these names.
fn parse(text: &str, names: &[&str]) -> Result<Expr, ExprError> {
    Expr::parse(text, &mut |name| names.iter().position(|known| *known == name))
}

/// The truth values of a condition.
fn truth(expr: &Expr, columns: &[Vector<'_>]) -> Vec<bool> {
    match &*expr.eval(columns).unwrap() {
        Vector::Bool(values) => values.clone(),
        other => panic!("{}", other.type_name()),
    }
}

fn ints(values: &[i64]) -> Vector<'_> {
    Vector::Int(values.into())
}

#[test]
fn items_of_every_type_are_widened() {
    let int = |values: &[i64]| Some(Vector::Int(values.to_vec().into()));
    let float = |values: &[f64]| Some(Vector::Float(values.to_vec().into()));
    let uint = |values: &[u64]| Some(Vector::Uint(values.to_vec().into()));
    let text = |values: [&str; 2]| Some(Vector::Text(values.map(str::to_owned).to_vec()));
    let cases: [(&str, &[u8], Option<Vector<'_>>); 20] = [
        ("|b1", &[0, 1, 2], Some(Vector::Bool(vec![false, true, true]))),
        ("|i1", &[0x80, 0x7f], int(&[-128, 127])),
        ("|u1", &[0x80, 0x7f], int(&[128, 127])),
        ("<i2", &[0xfe, 0xff, 1, 0], int(&[-2, 1])),
        (">i2", &[0xff, 0xfe, 0, 1], int(&[-2, 1])),
        ("<u2", &[0xfe, 0xff], int(&[65_534])),
        (">i4", &[0xff, 0xff, 0xff, 0xfd], int(&[-3])),
        ("<u4", &[0xff, 0xff, 0xff, 0xff], int(&[4_294_967_295])),
        (">i8", &[0, 0, 0, 0, 0, 0, 1, 0], int(&[256])),
        ("<u8", &[0xff; 8], uint(&[u64::MAX])),
        (">u8", &[0, 0, 0, 0, 0, 0, 1, 2], uint(&[258])),
        ("<f2", &[0, 0x3c, 0, 0xc0], float(&[1.0, -2.0])),
        (">f2", &[0x3c, 0, 0xc0, 0], float(&[1.0, -2.0])),
        (">f4", &[0x3f, 0x80, 0, 0], float(&[1.0])),
        (">f8", &[0x3f, 0xf0, 0, 0, 0, 0, 0, 0], float(&[1.0])),
        ("<M8[s]", &[1, 0, 0, 0, 0, 0, 0, 0x80], int(&[i64::MIN + 1])),
        ("<m8", &[5, 0, 0, 0, 0, 0, 0, 0], int(&[5])),
        ("|S3", b"ab\0\0\0\0", Some(Vector::Bytes(vec![b"ab", b""]))),
        ("<U1", &[0xe9, 0, 0, 0, 0, 0, 0, 0], text(["\u{e9}", ""])),
        (">U1", &[0, 1, 0xf6, 0, 0, 0, 0, b'x'], text(["\u{1f600}", "x"])),
    ];
    for (code, bytes, expected) in cases {
        assert_eq!(Vector::of_items(&dtype(code), bytes), expected, "{code}");
    }
}

#[test]
fn items_without_arithmetic_have_no_place() {
    for code in ["<c16", "|V3", "[('a', '<i4')]", "('<i4', (2,))", "<f16"] {
        let dtype = dtype(code);
        assert_eq!(Vector::of_items(&dtype, &vec![0; dtype.itemsize()]), None, "{code}");
    }
}

#[test]
fn value_types_have_names_and_numbers_can_be_summed() {
    let cases = [
        (Vector::Bool(vec![true]), ValueType::Truth, "truth values", true),
        (ints(&[1]), ValueType::Int, "integers", true),
        (Vector::Uint(vec![1].into()), ValueType::Int, "integers", true),
        (Vector::Float(vec![1.0].into()), ValueType::Float, "floats", true),
        (Vector::Bytes(vec![b"a"]), ValueType::Bytes, "byte strings", false),
        (Vector::Text(vec!["a".to_owned()]), ValueType::Text, "text", false),
    ];
    for (vector, kind, name, is_number) in cases {
        assert_eq!(vector.value_type(), kind);
        assert_eq!((vector.type_name(), kind.name(), kind.is_number()), (name, name, is_number));
    }
}

#[test]
fn a_constant_is_repeated_and_a_column_is_not() {
    let three = [
        (Vector::Bool(vec![true]), Vector::Bool(vec![true; 3])),
        (ints(&[7]), ints(&[7; 3])),
        (Vector::Uint(vec![7].into()), Vector::Uint(vec![7; 3].into())),
        (Vector::Float(vec![0.5].into()), Vector::Float(vec![0.5; 3].into())),
    ];
    for (one, expected) in &three {
        assert_eq!(*one.repeated(3), *expected);
        assert_eq!(*expected.repeated(3), *expected);
    }
}

#[test]
fn float_functions_are_those_of_the_standard_library() {
    type Function = (&'static str, fn(f64) -> f64);
    let functions: [Function; 20] = [
        ("arccos", f64::acos),
        ("arccosh", f64::acosh),
        ("arcsin", f64::asin),
        ("arcsinh", f64::asinh),
        ("arctan", f64::atan),
        ("arctanh", f64::atanh),
        ("ceil", f64::ceil),
        ("cos", f64::cos),
        ("cosh", f64::cosh),
        ("exp", f64::exp),
        ("expm1", f64::exp_m1),
        ("floor", f64::floor),
        ("log", f64::ln),
        ("log10", f64::log10),
        ("log1p", f64::ln_1p),
        ("log2", f64::log2),
        ("sin", f64::sin),
        ("sinh", f64::sinh),
        ("tan", f64::tan),
        ("tanh", f64::tanh),
    ];
    let values = [-2.5, -1.0, -0.0, 0.25, 1.0, 3.0, f64::INFINITY, f64::NAN];
    let columns = [Vector::Float(values.to_vec().into())];
    for (name, function) in functions {
        let expr = parse(&format!("{name}(x)"), &["x"]).unwrap();
        let Vector::Float(found) = expr.eval(&columns).unwrap().into_owned() else { panic!() };
        for (found, value) in found.iter().zip(values) {
            assert_eq!(found.to_bits(), function(value).to_bits(), "{name}({value})");
        }
    }
}

#[test]
fn errors_say_where_and_what() {
    let deep = format!("{}x{}", "(".repeat(60), ")".repeat(60));
    let long = vec!["x"; 600].join("+");
    for (text, message) in [
        ("", "at byte 0: expected a column, a constant or a bracket"),
        ("x +", "at byte 3: expected a column, a constant or a bracket"),
        ("x x", "at byte 2: expected an operator or the end"),
        ("y > 1", "at byte 0: no column \"y\""),
        ("x + nope(1)", "at byte 4: no function \"nope\""),
        ("where(x, 1)", "at byte 0: where takes 3 values, not 2"),
        ("sqrt()", "at byte 0: sqrt takes 1 value, not 0"),
    ] {
        let error = parse(text, &["x"]).unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
    for text in [&deep, &long] {
        assert!(matches!(parse(text, &["x"]), Err(ExprError::Syntax { .. })));
    }
}

/// Seconds since 1970 of a date and a time of day.
fn seconds(year: i128, month: i128, day: i128, time: i128) -> i64 {
    i64::try_from(calendar::day_of_date(year, month, day) * 86_400 + time).unwrap()
}

#[test]
fn dates_compare_with_texts_in_the_unit_of_the_column() {
    let noon = seconds(2012, 1, 31, 43_200);
    let times = [noon - 1, noon, noon + 1, i64::MIN, seconds(1969, 12, 31, 0)];
    let column = dtype("<M8[s]");
    let columns = [ints(&times)];
    for (text, expected) in [
        ("t < '2012-01-31T12:00'", [true, false, false, false, true]),
        ("t <= '2012-01-31T12:00:00'", [true, true, false, false, true]),
        ("t >= '2012-01-31'", [true, true, true, false, false]),
        ("t == '2012-01-31T12:00:01'", [false, false, true, false, false]),
        ("t != '2012-01-31T12:00:01'", [true, true, false, true, true]),
        // Half a second lies between two values of the column.
        ("t > '2012-01-31T12:00:00.5'", [false, false, true, false, false]),
        ("t == '2012-01-31T12:00:00.5'", [false; 5]),
        ("'1970-01-01' > t", [false, false, false, false, true]),
        ("~(t < '1970-01-01')", [true, true, true, true, false]),
    ] {
        let expr = parse(text, &["t"]).unwrap();
        let expr = expr.bind_dates(&|_| Some(&column)).unwrap();
        assert_eq!(truth(&expr, &columns), expected, "{text}");
    }
}

#[test]
fn texts_that_are_no_dates_and_other_units_are_refused() {
    let (seconds, days) = (dtype("<M8[s]"), dtype("<M8[D]"));
    let bind = |text: &str| {
        let expr = parse(text, &["t", "d"]).unwrap();
        expr.bind_dates(&|place| Some(if place == 0 { &seconds } else { &days }))
    };
    for text in ["2012-02-30", "2012-13-01", "yesterday", "2012-01-31T25:00", ""] {
        let error = bind(&format!("t < '{text}'")).unwrap_err();
        assert_eq!(error, ExprError::Date { at: 2, text: text.to_owned() });
    }
    let (left, right) = ("<M8[s]".to_owned(), "<M8[D]".to_owned());
    assert_eq!(bind("t < d"), Err(ExprError::Units { at: 2, left, right }));
    assert!(bind("t == t").is_ok());
}

#[test]
fn durations_compare_with_texts_in_the_unit_of_the_column() {
    let waits = [-90, 0, 89, 90, 91, i64::MIN];
    let columns = [ints(&waits)];
    for (column, text, expected) in [
        ("<m8[s]", "t < '90s'", [true, true, true, false, false, false]),
        ("<m8[s]", "t >= '1500ms'", [false, false, true, true, true, false]),
        ("<m8[s]", "t > '89500ms'", [false, false, false, true, true, false]),
        ("<m8[s]", "t == '89500ms'", [false; 6]),
        ("<m8[s]", "t != '89500ms'", [true; 6]),
        ("<m8[s]", "'-90s' == t", [true, false, false, false, false, false]),
        ("<m8[s]", "0 < t", [false, false, true, true, true, false]),
        ("<m8[s]", "t == '0D'", [false, true, false, false, false, false]),
        ("<m8[s]", "t == t", [true, true, true, true, true, false]),
        ("<m8[s]", "t != 'NaT'", [true; 6]),
        ("<m8[M]", "t <= '7Y'", [true, true, false, false, false, false]),
        // Without a unit the column counts plain numbers.
        ("<m8", "t < 90", [true, true, true, false, false, true]),
    ] {
        let dtype = dtype(column);
        let expr = parse(text, &["t"]).unwrap().bind_dates(&|_| Some(&dtype)).unwrap();
        assert_eq!(truth(&expr, &columns), expected, "{column}: {text}");
    }
}

#[test]
fn times_are_compared_with_texts_and_nothing_else() {
    let types = ["<M8[ns]", ">M8[D]", "<m8[ms]", "<i8", "|S10"].map(dtype);
    let names = ["time", "day", "wait", "n", "s"];
    let bind = |text: &str| {
        parse(text, &names).and_then(|expr| expr.bind_dates(&|place| types.get(place)))
    };
    for place in ["time", "day", "wait"] {
        let mut texts = vec![
            "T >= 2016-01-01",
            "2016-01-01 <= T",
            "T == 1451606400",
            "T != 0.5",
            "T < n",
            "T > -n",
            "T > 18446744073709551615",
            "T == True",
            "s == T",
            "1 < T < 3",
            "'2016' < T < 3",
            "T - 1 > 0",
            "1 + T > 0",
            "T // 86400 == 1",
            "T ** 2 > 1",
            "T & 1 == 1",
            "T << 1 > 2",
            "-T < 0",
            "~T == 1",
            "not T",
            "T and n > 0",
            "abs(T) > 1",
            "where(T > '2016', T, 0) > 1",
            "isnan(T)",
            "maximum(1, T) > 0",
            "n > 0 and (n < 5 or T > 5)",
            "T - T > 0",
            "sqrt(T - 1) > 1",
        ];
        if place != "wait" {
            texts.push("T > 0");
        }
        let what = if place == "wait" { "a duration" } else { "a time" };
        for text in texts {
            // The texts for dates become texts for durations.
            let text = text.replace('T', place);
            let text = if place == "wait" { text.replace("'2016'", "'1s'") } else { text };
            let text = text.replace(&format!("{place}rue"), "True");
            match bind(&text) {
                Err(ExprError::Time { what: found, .. }) => assert_eq!(found, what, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
    let message = |text: &str| bind(text).unwrap_err().to_string();
    assert_eq!(
        message("time >= 2016-01-01"),
        "at byte 5: a time is compared with text: \"2016-01-01\""
    );
    assert_eq!(message("wait > 90"), "at byte 5: a duration is compared with text: \"90s\"");
    for text in ["90", "s", "1.5s", "90 s", "-", "--1s", "3M", "2016-01-01", "1S", ""] {
        let error = bind(&format!("wait > '{text}'")).unwrap_err();
        assert_eq!(error, ExprError::Duration { at: 5, text: text.to_owned() });
    }
    let (left, right) = ("times", "durations");
    assert_eq!(bind("time < wait"), Err(ExprError::Types { at: 5, left, right }));
    for text in [
        "time",
        "n > 5",
        "time > '2016' and wait < '5m' and n == 3",
        "where(time > '2016', n, 0) > 1",
    ] {
        assert!(bind(text).is_ok(), "{text}");
    }
}

/// A whole number computed from three columns, as a text with all brackets and as one without the
/// brackets that Python's precedence makes superfluous.
#[derive(Clone, Debug)]
struct Formula {
    bracketed: String,
    plain: String,
    /// The binding level of the outermost operator.
    level: usize,
}

/// Operators of whole numbers in Python's order, the loosest first.
const LEVELS: [&[&str]; 6] =
    [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "//", "%"]];

fn formulas() -> impl Strategy<Value = Formula> {
    let leaf = select(vec!["a", "b", "c", "0", "3", "70"]).prop_map(|text| Formula {
        bracketed: text.to_owned(),
        plain: text.to_owned(),
        level: LEVELS.len(),
    });
    leaf.prop_recursive(4, 16, 2, |inner| {
        (inner.clone(), 0..LEVELS.len(), any::<prop::sample::Index>(), inner).prop_map(
            |(left, level, place, right)| {
                let op = place.get(LEVELS[level]);
                let side = |formula: &Formula, is_bracketed: bool| match is_bracketed {
                    true => format!("({})", formula.plain),
                    false => formula.plain.clone(),
                };
                // Operators of one level are taken from the left.
                let plain = [side(&left, left.level < level), side(&right, right.level <= level)];
                Formula {
                    bracketed: format!("({} {op} {})", left.bracketed, right.bracketed),
                    plain: plain.join(&format!(" {op} ")),
                    level,
                }
            },
        )
    })
}

/// Unknown, false or true.
type Known = Option<bool>;

/// A condition over three nullable columns, and its value for a row.
#[derive(Clone, Debug)]
enum Condition {
    Less(usize, i64),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
}

impl Condition {
    fn text(&self) -> String {
        match self {
            Self::Less(column, value) => format!("({} < {value})", ["a", "b", "c"][*column]),
            Self::Not(inner) => format!("~{}", inner.text()),
            Self::And(left, right) => format!("({} & {})", left.text(), right.text()),
            Self::Or(left, right) => format!("({} | {})", left.text(), right.text()),
        }
    }

    /// The value by the tables of Kleene's logic.
    fn of_row(&self, row: [Option<i64>; 3]) -> Known {
        match self {
            Self::Less(column, value) => row[*column].map(|item| item < *value),
            Self::Not(inner) => inner.of_row(row).map(|known| !known),
            Self::And(left, right) => match (left.of_row(row), right.of_row(row)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Self::Or(left, right) => match (left.of_row(row), right.of_row(row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }
}

fn conditions() -> impl Strategy<Value = Condition> {
    let leaf = (0..3_usize, -3..4_i64).prop_map(|(column, value)| Condition::Less(column, value));
    leaf.prop_recursive(4, 12, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            inner.prop_map(|inner| Condition::Not(inner.into())),
            pair.clone().prop_map(|(a, b)| Condition::And(a.into(), b.into())),
            pair.prop_map(|(a, b)| Condition::Or(a.into(), b.into())),
        ]
    })
}

/// The condition, and rows of three columns with nulls.
fn nullable_rows() -> impl Strategy<Value = (Condition, Vec<[Option<i64>; 3]>)> {
    let item = || prop::option::of(-3..4_i64);
    let row = (item(), item(), item()).prop_map(|(a, b, c)| [a, b, c]);
    (conditions(), prop::collection::vec(row, 0..40))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn precedence_is_that_of_python(formula in formulas(), items in any::<[[i64; 3]; 3]>()) {
        let names = ["a", "b", "c"];
        let columns = items.each_ref().map(|items| ints(items));
        let bracketed = parse(&formula.bracketed, &names).unwrap();
        let plain = parse(&formula.plain, &names).unwrap();
        prop_assert_eq!(bracketed.eval(&columns).unwrap(), plain.eval(&columns).unwrap());
    }

    #[test]
    fn nulls_go_by_the_tables_of_kleene((condition, rows) in nullable_rows()) {
        let expr = parse(&condition.text(), &["a", "b", "c"]).unwrap();
        let column = |n: usize| rows.iter().map(|row| row[n].unwrap_or(0)).collect::<Vec<_>>();
        let columns = [0, 1, 2].map(|n| Vector::Int(column(n).into()));
        let valid = [0, 1, 2].map(|n| rows.iter().map(|row| row[n].is_some()).collect::<Vec<_>>());
        let valid = valid.each_ref().map(|valid| Some(valid.as_slice()));
        let expected: Vec<bool> =
            rows.iter().map(|row| condition.of_row(*row) == Some(true)).collect();
        prop_assert_eq!(expr.is_true(&columns, &valid, rows.len()).unwrap(), expected);
    }

    #[test]
    fn stored_items_compare_as_widened_ones(
        code in select(vec!["|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<f4", "<f8"]),
        condition in conditions(),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let dtype = dtype(code);
        let bytes = &bytes[..bytes.len() / dtype.itemsize() * dtype.itemsize()];
        let expr = parse(&condition.text(), &["a", "b", "c"]).unwrap();
        let column = Vector::of_items(&dtype, bytes).unwrap();
        let stored = [Stored { dtype: &dtype, bytes }; 3];
        if let Some(found) = expr.truth_of_stored(&stored) {
            prop_assert_eq!(found, truth(&expr, &[column.clone(), column.clone(), column]));
        }
    }
}
