//! Items side by side: brackets as NumPy sets them, or comma-separated values.

use blosc_dtype::Dtype;
use serde_json::Value;

use super::{item, numpy};

/// Items in C order, and where some are left out.
pub(super) struct Part {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<u64>,
    /// Of which dimensions the middle is left out.
    pub(super) elided: Vec<bool>,
    pub(super) bytes: Vec<u8>,
}

/// Items at each end of a dimension whose middle is left out.
pub(super) const EDGE: u64 = 3;

impl Part {
    /// Nested brackets, as NumPy sets them.
    pub(super) fn brackets(&self) -> String {
        numpy::brackets(self)
    }

    /// Nested arrays.
    pub(super) fn json(&self) -> Value {
        let mut items = self.items().map(|bytes| item::json(&self.dtype, bytes));
        values(&mut items, &self.shape)
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.dtype.itemsize().max(1))
    }
}

pub(crate) use blosc_data::cells::Rows;

fn values(items: &mut impl Iterator<Item = Value>, shape: &[u64]) -> Value {
    match shape.split_first() {
        None => items.next().unwrap_or_default(),
        Some((len, rest)) => (0..*len).map(|_| values(items, rest)).collect(),
    }
}

/// One line of comma-separated values. A value that is empty and alone has quotes: an empty line is
/// none.
pub(super) fn line(texts: impl Iterator<Item = String>, out: &mut String) {
    let (start, mut count) = (out.len(), 0);
    for text in texts {
        out.push_str(if count > 0 { "," } else { "" });
        count += 1;
        if text.contains([',', '"', '\n', '\r']) {
            out.push_str(&format!("\"{}\"", text.replace('"', "\"\"")));
        } else {
            out.push_str(&text);
        }
    }
    out.push_str(if count == 1 && out.len() == start { "\"\"\n" } else { "\n" });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(dtype: &str, shape: &[u64], elided: &[bool], bytes: Vec<u8>) -> Part {
        Part {
            dtype: dtype.parse().unwrap(),
            shape: shape.to_vec(),
            elided: elided.to_vec(),
            bytes,
        }
    }

    #[test]
    fn brackets_are_those_of_numpy() {
        let bytes: Vec<u8> = (5..17).collect();
        let cube = part("u1", &[2, 2, 3], &[false; 3], bytes.clone());
        assert_eq!(
            cube.brackets(),
            "[[[ 5  6  7]\n  [ 8  9 10]]\n\n [[11 12 13]\n  [14 15 16]]]\n"
        );
        let flat = part("u1", &[6], &[true], vec![0, 1, 2, 97, 98, 99]);
        assert_eq!(flat.brackets(), "[ 0  1  2 ... 97 98 99]\n");
        assert_eq!(part("u1", &[], &[], vec![7]).brackets(), "7\n");
        assert_eq!(part("u1", &[0], &[false], vec![]).brackets(), "[]\n");
        assert_eq!(
            cube.json(),
            serde_json::json!([[[5, 6, 7], [8, 9, 10]], [[11, 12, 13], [14, 15, 16]]])
        );
        let rows = Rows::new(&cube.dtype, &cube.shape);
        assert_eq!((rows.nbytes(), rows.names().join(",")), (3, "0,1,2".to_owned()));
        assert_eq!(rows.cells(&[5, 6, 7]).collect::<Vec<_>>(), ["5", "6", "7"]);
    }

    #[test]
    fn fields_are_columns() {
        let dtype = "[('a', 'u1'), ('b, c', 'S1')]".parse().unwrap();
        let (rows, mut out) = (Rows::new(&dtype, &[2]), String::new());
        line(rows.names().into_iter(), &mut out);
        b"\x01x\x02,".chunks(rows.nbytes()).for_each(|row| line(rows.cells(row), &mut out));
        assert_eq!(out, "a,\"b, c\"\n1,x\n2,\",\"\n");
    }

    #[test]
    fn an_empty_value_is_no_empty_line() {
        let line_of = |texts: &[&str]| {
            let mut out = "a\n".to_owned();
            line(texts.iter().map(|text| (*text).to_owned()), &mut out);
            out
        };
        assert_eq!(line_of(&[""]), "a\n\"\"\n");
        assert_eq!(line_of(&["", ""]), "a\n,\n");
        assert_eq!(line_of(&[]), "a\n\n");
    }
}
