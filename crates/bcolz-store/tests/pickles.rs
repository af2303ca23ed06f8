//! Pickles that NumPy wrote, of scalars of every type in every protocol: `testdata/pickles`.

use std::fs;

use bcolz_store::error::Blame;
use bcolz_store::pickle::{self, Object, PickleError};

/// Name, protocol and bytes.
fn recorded() -> Vec<(String, u8, Vec<u8>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/pickles/numpy.txt");
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let byte = |at| u8::from_str_radix(&words[2][at..at + 2], 16).unwrap();
        let bytes = (0..words[2].len()).step_by(2).map(byte).collect();
        (words[0].to_owned(), words[1].parse().unwrap(), bytes)
    });
    lines.collect()
}

fn scalar(dtype: &str, item: &[u8]) -> Object {
    Object::Scalar { dtype: dtype.into(), item: item.into() }
}

/// The value of a name; `None` if it is not plain data.
fn expected(name: &str) -> Option<Object> {
    let float = f64::to_le_bytes;
    Some(match name {
        "float64" => Object::Float(1.5),
        "float32" => Object::Float(-0.25),
        "float16" => Object::Float(2.5),
        "int8" => Object::Int(-8),
        "int16" => Object::Int(-16),
        "int32" => Object::Int(-32),
        "int64" => Object::Int(i64::MIN.into()),
        "uint8" => Object::Int(255),
        "uint16" => Object::Int(65_535),
        "uint32" => Object::Int(u32::MAX.into()),
        "uint64" => Object::Int(u64::MAX.into()),
        "bool" => Object::Bool(true),
        "str" => Object::Str("é\u{1f600}".into()),
        "bytes" => Object::Bytes(b"a\xff"[..].into()),
        "datetime64" => scalar("<M8[s]", &1_330_516_800_i64.to_le_bytes()),
        "nat" => scalar("<M8", &i64::MIN.to_le_bytes()),
        "timedelta64" => scalar("<m8[25s]", &5_i64.to_le_bytes()),
        "complex128" => scalar("<c16", &[float(1.0), float(2.0)].concat()),
        "void" => scalar("|V3", b"abc"),
        "list" => {
            let dict = Object::Dict([(Object::Str("k".into()), Object::Float(0.5))].into());
            Object::List([Object::Int(1), Object::Int(2), dict].into())
        }
        _ => return None,
    })
}

#[test]
fn scalars_of_every_type_in_every_protocol() {
    let recorded = recorded();
    assert_eq!(recorded.len(), 24 * 6);
    for (name, protocol, bytes) in recorded {
        match expected(&name) {
            Some(expected) => assert_eq!(pickle::load(&bytes), Ok(expected), "{name} {protocol}"),
            None => assert!(pickle::load(&bytes).is_err(), "{name} {protocol}"),
        }
    }
}

#[test]
fn scalars_by_the_name_before_numpy_2() {
    let (new, old) = (&b"numpy._core.multiarray\n"[..], &b"numpy.core.multiarray\n"[..]);
    for (name, protocol, bytes) in recorded().into_iter().filter(|(_, protocol, _)| *protocol < 4) {
        let (Some(expected), Some(at)) =
            (expected(&name), bytes.windows(new.len()).position(|window| window == new))
        else {
            continue;
        };
        let bytes = [&bytes[..at], old, &bytes[at + new.len()..]].concat();
        assert_eq!(pickle::load(&bytes), Ok(expected), "{name} {protocol}");
    }
}

#[test]
fn what_is_no_plain_data_is_named_with_its_place() {
    for (name, protocol, bytes) in recorded() {
        let what = match name.as_str() {
            "record" => "opcode",
            "array" if protocol < 5 => "numpy._core.multiarray._reconstruct",
            "array" => "numpy._core.numeric._frombuffer",
            "float_type" => "numpy.float64",
            "ufunc" => "numpy.sqrt",
            _ => continue,
        };
        let error = pickle::load(&bytes).unwrap_err();
        match &error {
            PickleError::Global { name, at } => {
                assert_eq!((name.as_str(), error.blame()), (what, Blame::NotOurs));
                // The opcode is at this position.
                assert!(matches!(bytes[*at], b'c' | 0x93), "{name} {protocol}");
            }
            PickleError::Malformed { opcode: b'b', at, what: "not the state of a dtype" } => {
                assert_eq!((what, bytes[*at]), ("opcode", b'b'), "{name} {protocol}");
            }
            other => panic!("{name} {protocol}: {other:?}"),
        }
    }
}

#[test]
fn cut_pickles_are_errors() {
    for (name, protocol, bytes) in recorded() {
        for len in 0..bytes.len() {
            assert!(pickle::load(&bytes[..len]).is_err(), "{name} {protocol} {len}");
        }
    }
}

/// Pickles that make Python run code, or that no pickler writes: each is refused with its fault,
/// and no code runs.
#[test]
fn pickles_that_are_no_plain_data_are_refused() {
    let cases: [(&[u8], &str); 18] = [
        (b"", "empty"),
        (b".", "a stop without a value"),
        (b"N", "no stop"),
        (b"cos\nsystem\n(S'true'\ntR.", "a call of os.system"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.", "the same in protocol 4"),
        (b"(ios\nsystem\n.", "an instance by its name"),
        (b"(cos\nsystem\no.", "an instance by its class"),
        (b"\x80\x02cbuiltins\neval\nX\x03\x00\x00\x001+1\x85R.", "a call of eval"),
        (b"\x80\x02cbuiltins\nobject\n)\x81.", "a new object"),
        (b"\x80\x02\x82\x01.", "an extension"),
        (b"P1\n.", "a persistent id"),
        (b"\x80\x02NQ.", "a persistent id in binary"),
        (b"\x80\x02h\x07.", "an unknown entry of the memo"),
        (b"\x80\x02a.", "append to nothing"),
        (b"\x80\x02]t.", "a tuple without a mark"),
        (b"\x80\x02X\xff\xff\xff\xffa.", "a string longer than the pickle"),
        (b"\x80\x02\x8a\xff1.", "a number longer than the pickle"),
        (b"\x80\x02NN\x86\x00.", "an unknown opcode"),
    ];
    for (bytes, what) in cases {
        let error = pickle::load(bytes).expect_err(what);
        assert!(!error.to_string().is_empty(), "{what}");
    }
}

#[test]
fn lists_within_lists_end_at_a_depth() {
    let nested =
        |depth: usize| [b"]".repeat(depth), b"a".repeat(depth - 1), b".".to_vec()].concat();
    let mut object = pickle::load(&nested(100)).unwrap();
    let mut depth = 0;
    while let Object::List(items) = object {
        depth += 1;
        match items.first() {
            Some(inner) => object = inner.clone(),
            None => break,
        }
    }
    assert_eq!(depth, 100);
    assert!(pickle::load(&nested(100_000)).is_err());
}

#[test]
fn an_object_that_is_its_own_element_is_refused() {
    assert!(pickle::load(b"]q\x00h\x00a.").is_err());
    assert!(pickle::load(b"}q\x00K\x01h\x00s.").is_err());
    // The same object twice is no circle, but must not grow without a bound.
    let doubled = [b"]", &b"2\x86".repeat(40)[..], b"."].concat();
    match pickle::load(&doubled) {
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let twice = pickle::load(b"]q\x00(h\x00h\x00t.").unwrap();
    let empty = Object::List([].into());
    assert_eq!(twice, Object::Tuple([empty.clone(), empty].into()));
}

#[test]
fn plain_values_of_protocol_0_and_1_are_read() {
    let cases: [(&[u8], Object); 12] = [
        (b"I01\n.", Object::Bool(true)),
        (b"I00\n.", Object::Bool(false)),
        (b"I-42\n.", Object::Int(-42)),
        (b"L7L\n.", Object::Int(7)),
        (b"F1.5\n.", Object::Float(1.5)),
        (b"K\xff.", Object::Int(255)),
        (b"M\x01\x02.", Object::Int(513)),
        (b"J\xfe\xff\xff\xff.", Object::Int(-2)),
        (b"G\x3f\xf8\0\0\0\0\0\0.", Object::Float(1.5)),
        (b"V\\u00e9\n.", Object::Str("é".into())),
        (b"S'a\\n\\x41'\n.", Object::Str("a\nA".into())),
        (b"(lp0\nI1\naI2\na.", Object::List([Object::Int(1), Object::Int(2)].into())),
    ];
    for (bytes, expected) in cases {
        assert_eq!(pickle::load(bytes).unwrap(), expected, "{}", bytes.escape_ascii());
    }
}
