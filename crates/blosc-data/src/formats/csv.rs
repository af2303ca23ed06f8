//! Comma-separated values as items with fields: one field per column, one item per line.
//!
//! The first line holds the names. A first reading of all values finds the types of the columns:
//! 64-bit integers, floats, truth values, dates or times, else text. Times have the precision of
//! the longest value, text has its length. Nothing is lost: `007` stays text, and so do integers
//! that would be rounded. A second reading makes the items.

mod guess;
mod value;

use core::cell::Cell;
use std::{
    collections::BTreeMap,
    io::{self, Read, Write as _},
    path::Path,
    rc::Rc,
    sync::Arc,
};

use blosc_dtype::{Dtype, Kind};
use blosc_io::ReadAt;
use csv::{ByteRecord, ReaderBuilder};

use crate::boxes::Stored;
use crate::content::{Items, NULL_MARK, NULL_TRUTH, null_item};
use crate::error::{CsvError, Doing, Error, Result};
use crate::spool::Spool;

use guess::Guess;

pub use guess::Missing;

/// The separator of the values of a line by default.
pub const COMMA: u8 = b',';

/// Parses a delimiter: one character of one byte (no quotation mark, no line break), or `tab`.
///
/// # Errors
///
/// Any other text, with words for people.
pub fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err(format!("{text:?} is not one character, or `tab`")),
    }
}

/// Whether the name has the suffix of comma-separated values.
#[must_use]
pub fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// The names of the columns, from the first line of the file.
///
/// # Errors
///
/// When the line is missing, or the file cannot be read.
pub fn names(file: Arc<dyn ReadAt>) -> Result<Vec<String>> {
    Lines::new(file, COMMA).names()
}

/// The longest value of each column, by its name (bytes: at least the number of characters).
///
/// # Errors
///
/// When a line does not parse, or the file cannot be read.
pub fn widths(file: Arc<dyn ReadAt>) -> Result<BTreeMap<String, usize>> {
    let mut lines = Lines::new(file, COMMA);
    let names = lines.names()?;
    let mut widths = vec![0; names.len()];
    while let Some(record) = lines.next()? {
        for (width, text) in widths.iter_mut().zip(record.iter()) {
            *width = text.len().max(*width);
        }
    }
    Ok(names.into_iter().zip(widths).collect())
}

/// Reads the values in a file: as items of the `given` type, whose fields are found by name, or of
/// guessed types. `tell` gets doubts about a guess, for people: a column that one value makes text,
/// lines that seem to have another delimiter.
///
/// # Errors
///
/// When a line or a value does not parse, or the file cannot be read.
pub fn read(
    file: Arc<dyn ReadAt>,
    delimiter: u8,
    given: Option<&Dtype>,
    missing: Missing<'_>,
    tell: &mut dyn FnMut(&str),
) -> Result<Items> {
    // Without columns that have nulls, no marks of nulls follow the items.
    let missing = if missing == Missing::Nulls(&[]) { Missing::Text } else { missing };
    let mut lines = Lines::new(Arc::clone(&file), delimiter);
    let names = lines.names()?;
    tell_delimiter(&names, tell);
    let (dtype, nullable) = match given {
        Some(dtype) => (dtype.clone(), truths(dtype, missing)),
        None => guessed(&mut lines, &names, missing, tell)?,
    };
    let columns = columns(&dtype, &names)?;
    let mut lines = Lines::new(file, delimiter);
    lines.names()?;
    let mut out = Spool::default();
    let (mut rows, mut item) = (0_u64, vec![0; dtype.itemsize()]);
    let marked = if let Missing::Nulls(names) = missing { Some(names) } else { None };
    let mut marks = vec![0; marked.map_or(0, |_| dtype.fields().len())];
    let takes_nulls: Vec<bool> = dtype.fields().iter().map(|it| is_named(marked, it)).collect();
    while let Some(record) = lines.next()? {
        marks.fill(0);
        for (number, (field, position)) in dtype.fields().iter().zip(&columns).enumerate() {
            let text = record.get(*position).unwrap_or_default();
            let end = field.offset() + field.dtype().itemsize();
            let dest = item.get_mut(field.offset()..end).unwrap_or_default();
            if takes_nulls[number] && value::is_missing_as(field.dtype(), text) {
                dest.copy_from_slice(&null_item(field.dtype()));
                marks[number] = NULL_MARK;
                continue;
            }
            if nullable.iter().any(|name| name == field.name()) && value::is_missing(text) {
                dest.fill(NULL_TRUTH);
                continue;
            }
            value::encode(text, field.dtype(), dest).ok_or_else(|| {
                let line = record.position().map_or(0, csv::Position::line);
                let (column, dtype) = (field.name().to_owned(), value::type_name(field.dtype()));
                match core::str::from_utf8(text) {
                    Ok(text) => CsvError::Value { line, column, text: text.to_owned(), dtype },
                    Err(_) => CsvError::NotText { line, column },
                }
            })?;
        }
        out.write_all(&item).map_err(Error::io(Doing::Spool))?;
        out.write_all(&marks).map_err(Error::io(Doing::Spool))?;
        rows += 1;
    }
    let is_marked = !marks.is_empty();
    let dtype = if is_marked { dtype.padded(marks.len()).map_err(CsvError::Dtype)? } else { dtype };
    let (store, itemsize) = (out.finish()?, dtype.itemsize() as u64);
    let file_len = rows.saturating_mul(itemsize);
    let stored = Stored { store, start: 0, fortran_order: false, shape: vec![rows], itemsize };
    Ok(Items { stored, dtype, file_len, format: "csv", nullable, is_marked })
}

/// Whether a field is one of those with nulls.
fn is_named(names: Option<&[String]>, field: &blosc_dtype::Field) -> bool {
    names.is_some_and(|names| names.iter().any(|name| name == field.name()))
}

/// The fields of truth values in a given type, if these may be missing.
fn truths(dtype: &Dtype, missing: Missing<'_>) -> Vec<String> {
    let may_lack = |field: &&blosc_dtype::Field| {
        missing == Missing::Truths && field.dtype().kind() == Some(Kind::Bool)
    };
    dtype.fields().iter().filter(may_lack).map(|field| field.name().to_owned()).collect()
}

/// Reports a single name that looks like several.
fn tell_delimiter(names: &[String], tell: &mut dyn FnMut(&str)) {
    if let [name] = names
        && let Some(other) = [';', '\t', '|'].into_iter().find(|other| name.contains(*other))
    {
        let other = if other == '\t' { "'\\t'".to_owned() } else { format!("'{other}'") };
        tell(&format!(
            "one column; if {other} stands between columns, `b2 convert --delimiter {other}` \
             separates them"
        ));
    }
}

/// The guessed type of each column, and the columns of truth values with missing ones.
fn guessed(
    lines: &mut Lines,
    names: &[String],
    missing: Missing<'_>,
    tell: &mut dyn FnMut(&str),
) -> Result<(Dtype, Vec<String>)> {
    let mut guesses = vec![Guess::default(); names.len()];
    while let Some(record) = lines.next()? {
        let line = record.position().map_or(0, csv::Position::line);
        for (guess, text) in guesses.iter_mut().zip(record.iter()) {
            guess.look_at(text, line);
        }
    }
    for (name, guess) in names.iter().zip(&guesses) {
        if let Some(why) = guess.broken(missing) {
            tell(&format!("column {name:?} is text: {why}"));
        }
    }
    let guessed = || names.iter().zip(&guesses);
    let fields = guessed().map(|(name, guess)| Ok((name.clone(), guess.dtype(missing)?)));
    let fields = fields.collect::<Result<Vec<_>, blosc_dtype::Error>>().map_err(CsvError::Dtype)?;
    let lacking = guessed().filter(|(_, guess)| missing == Missing::Truths && guess.lacks_truth());
    let nullable = lacking.map(|(name, _)| name.clone()).collect();
    Ok((Dtype::packed(fields).map_err(CsvError::Dtype)?, nullable))
}

/// The column of each field.
fn columns(dtype: &Dtype, names: &[String]) -> Result<Vec<usize>, CsvError> {
    if dtype.fields().is_empty() {
        return Err(CsvError::Type { dtype: dtype.to_string() });
    }
    let find = |field: &blosc_dtype::Field| {
        if !value::is_readable(field.dtype()) {
            return Err(CsvError::Type { dtype: field.dtype().to_string() });
        }
        let position = names.iter().position(|name| name == field.name());
        position.ok_or_else(|| CsvError::NoColumn { name: field.name().to_owned() })
    };
    dtype.fields().iter().map(find).collect()
}

/// The lines of a file; a line that is too long is an error.
struct Lines {
    reader: csv::Reader<Bounded>,
    left: Rc<Cell<usize>>,
    record: ByteRecord,
    /// Empty values that come before the held record.
    nempty: u64,
    empty: ByteRecord,
    /// The start of the last record: its byte and its line.
    last: Option<(u64, u64)>,
    file: Arc<dyn ReadAt>,
    delimiter: u8,
}

impl Lines {
    fn new(file: Arc<dyn ReadAt>, delimiter: u8) -> Self {
        let left = Rc::new(Cell::new(MAX_LINE));
        let bounded = Bounded { file: Arc::clone(&file), at: 0, left: Rc::clone(&left) };
        let reader =
            ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(bounded);
        let empty = ByteRecord::from(vec![""]);
        let record = ByteRecord::new();
        Self { reader, left, record, nempty: 0, empty, last: None, file, delimiter }
    }

    /// The next record. In a single column, an empty line is an empty value unless it is the last.
    fn next(&mut self) -> Result<Option<&ByteRecord>> {
        if self.nempty > 0 {
            self.nempty -= 1;
            let is_last = self.nempty == 0;
            return Ok(Some(if is_last { &self.record } else { &self.empty }));
        }
        self.left.set(MAX_LINE);
        let start = self.reader.position().line();
        let more = self.reader.read_byte_record(&mut self.record).map_err(CsvError::Csv)?;
        if !more {
            self.check_end()?;
            return Ok(None);
        }
        self.last = self.record.position().map(|at| (at.byte(), at.line()));
        if self.record.len() == 1 {
            let breaks = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count();
            let lines = self.reader.position().line().saturating_sub(start);
            let nempty = lines.saturating_sub(breaks as u64 + 1);
            if nempty > 0 && start > 1 {
                self.nempty = nempty;
                return Ok(Some(&self.empty));
            }
        }
        Ok(Some(&self.record))
    }

    /// Refuses a last record that the end of the file cuts: the parser accepts an open quotation
    /// mark at the end.
    fn check_end(&self) -> Result<()> {
        let Some((byte, line)) = self.last else { return Ok(()) };
        let left = Rc::new(Cell::new(usize::MAX));
        let rest = Bounded { file: Arc::clone(&self.file), at: byte, left };
        let mut raw = Vec::new();
        rest.take(MAX_LINE as u64).read_to_end(&mut raw).map_err(Error::io(Doing::Read))?;
        if ends_in_quotes(&raw, self.delimiter) {
            return Err(CsvError::OpenQuote { line }.into());
        }
        Ok(())
    }

    /// The first line; a column without a name gets one.
    fn names(&mut self) -> Result<Vec<String>> {
        let Some(record) = self.next()? else { return Err(CsvError::NoNames.into()) };
        let mut names: Vec<String> = Vec::new();
        for (n, name) in record.iter().enumerate() {
            let name = name.strip_prefix(b"\xef\xbb\xbf").filter(|_| n == 0).unwrap_or(name);
            let text = core::str::from_utf8(name);
            let name = text.map_err(|_| CsvError::NameText { column: n })?.trim().to_owned();
            let name = if name.is_empty() { format!("column{n}") } else { name };
            if names.contains(&name) {
                return Err(CsvError::Twice { name }.into());
            }
            names.push(name);
        }
        Ok(names)
    }
}

/// Whether a quotation mark is open at the end of these lines.
fn ends_in_quotes(raw: &[u8], delimiter: u8) -> bool {
    let (mut is_open, mut is_start) = (false, true);
    for byte in raw {
        match (is_open, *byte) {
            // Two marks in a value stand for one: the first closes it and the second opens it
            // again.
            (true, b'"') => (is_open, is_start) = (false, true),
            (true, _) => {}
            (false, b'"') if is_start => is_open = true,
            (false, byte) => is_start = byte == delimiter || byte == b'\n' || byte == b'\r',
        }
    }
    is_open
}

/// A file of which a limited part is read at once.
struct Bounded {
    file: Arc<dyn ReadAt>,
    at: u64,
    left: Rc<Cell<usize>>,
}

impl Read for Bounded {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read_at(self.at, buf)?;
        self.at += len as u64;
        let left = self.left.get().checked_sub(len);
        self.left.set(
            left.ok_or_else(|| io::Error::other(format!("a line has more than {MAX_LINE} bytes")))?,
        );
        Ok(len)
    }
}

/// The longest line (bytes).
const MAX_LINE: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_io::MemStore;

    fn of_bytes(bytes: &[u8], given: Option<&str>) -> Result<Items> {
        let file = Arc::new(MemStore::new(bytes.to_vec()));
        let given = given.map(|dtype| dtype.parse().unwrap());
        read(file, COMMA, given.as_ref(), Missing::Text, &mut |_| ())
    }

    fn values(text: &str, given: Option<&str>) -> Result<(String, Vec<u8>)> {
        let items = of_bytes(text.as_bytes(), given)?;
        let mut bytes = vec![0; usize::try_from(items.file_len).unwrap()];
        items.stored.read(0, &mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, items.stored.shape[0] * items.stored.itemsize);
        Ok((items.dtype.to_string(), bytes))
    }

    #[test]
    fn column_types_follow_from_the_values() {
        let text = "i,f,b,s,z,u,e\n1,0.5,True,a,007,18446744073709551615,\n-2,nan,False,\"b,\"\"ä\",1,1,3\n";
        let (dtype, bytes) = values(text, None).unwrap();
        let expected = "[('i', '<i8'), ('f', '<f8'), ('b', '?'), ('s', '<U4'), ('z', '<U3'), ('u', '<u8'), ('e', '<f8')]";
        assert_eq!(dtype, expected);
        assert_eq!(bytes[..8], 1_i64.to_le_bytes());
        assert_eq!((bytes[16], bytes[17], bytes[33]), (1, b'a', b'0'));
        let e = f64::from_le_bytes(bytes[53..61].try_into().unwrap());
        assert!(e.is_nan());
        assert_eq!(values("a,b\n", None).unwrap(), ("[('a', '<U1'), ('b', '<U1')]".into(), vec![]));
    }

    #[test]
    fn empty_lines_of_a_single_column_are_values() {
        let (dtype, bytes) = values("a\n1\n\n\n3\n\n", None).unwrap();
        assert_eq!((dtype.as_str(), bytes.len()), ("[('a', '<f8')]", 32));
        let (_, bytes) = values("a\n\"x\ny\"\n\nz\n", None).unwrap();
        assert_eq!(bytes.len(), 3 * 3 * 4);
        assert_eq!(values("a,b\n1,2\n\n3,4\n", None).unwrap().1.len(), 32);
    }

    #[test]
    fn a_quotation_mark_that_is_not_closed_is_an_error() {
        let said = |text| values(text, None).err().map(|error| error.to_string());
        let open = "line 2: a quotation mark is not closed before the end of the file";
        assert_eq!(said("a,b\n1,\"abc\n2,3\n").as_deref(), Some(open));
        assert_eq!(said("a,b\n1,\"abc").as_deref(), Some(open));
        for text in ["a,b\n1,5\" pipe", "a,b\n1,\"x\"\"\"\n", "a,b\n1,\"x\ny\"\n"] {
            assert_eq!(said(text), None, "{text}");
        }
        let short = said("a,b\n1,2\n3\n");
        assert_eq!(short.as_deref(), Some("line 3 has 1 value, and the first line has 2"));
    }

    #[test]
    fn numbers_and_names_that_cannot_be_kept_are_no_others() {
        assert_eq!(values("a,b\n1e400,1e300\n", None).unwrap().0, "[('a', '<U5'), ('b', '<f8')]");
        assert_eq!(values("a,b\ninf,-nan\n", None).unwrap().0, "[('a', '<f8'), ('b', '<f8')]");
        let error = of_bytes(b"a,b\xff\n1,2\n", None).err().unwrap();
        assert_eq!(error.to_string(), "the name of column 1 (from 0) is not UTF-8");
    }

    #[test]
    fn integers_are_not_rounded() {
        assert_eq!(
            values("a,b\n9007199254740993,1\n,2\n", None).unwrap().0,
            "[('a', '<U16'), ('b', '<i8')]"
        );
        assert_eq!(
            values("a,b\n-1,1\n18446744073709551615,2\n", None).unwrap().0,
            "[('a', '<U20'), ('b', '<i8')]"
        );
    }

    #[test]
    fn dates_are_as_precise_as_the_values() {
        let dtype = |column: &str| values(&format!("a,b\n{column}"), None).unwrap().0;
        let is = |dtype: &str| format!("[('a', '{dtype}'), ('b', '<i8')]");
        assert_eq!(dtype("2020-02-29,1\n,2\n"), is("<M8[D]"));
        assert_eq!(dtype("NaT,1\n2020-02-29,1\n"), is("<M8[D]"));
        assert_eq!(dtype("2020-02-29 10:00,1\n2020-02-29T10:00:00.25,2\n"), is("<M8[ms]"));
        // A day is not a midnight; some dates do not exist; nanoseconds end in the year 2262.
        assert_eq!(dtype("2020-02-29,1\n2020-02-29T10:00,2\n"), is("<U16"));
        assert_eq!(dtype("2021-02-29,1\n"), is("<U10"));
        assert_eq!(dtype("2300-01-01T00:00:00.000000001,1\n"), is("<U29"));
        assert_eq!(dtype("2020-02,1\n"), is("<U7"));
        assert_eq!(dtype("NaT,1\n"), is("<U3"));
    }

    #[test]
    fn values_that_are_missing_do_not_make_text_and_what_does_is_told() {
        let told = |text: &str| {
            let (file, mut told) = (Arc::new(MemStore::new(text.as_bytes().to_vec())), vec![]);
            let items =
                read(file, COMMA, None, Missing::Text, &mut |text| told.push(text.to_owned()));
            (items.unwrap().dtype.to_string(), told.join("; "))
        };
        for missing in ["", "NA", "null", "NULL"] {
            let (dtype, told) = told(&format!("a,b,c\n1,2020-01-01,x\n{missing},{missing},NA\n"));
            assert_eq!(dtype, "[('a', '<f8'), ('b', '<M8[D]'), ('c', '<U2')]", "{missing:?}");
            assert_eq!(told, "");
        }
        let (dtype, note) = told("a,b\n1,2\n1.5,3\n-,4\n");
        assert_eq!(dtype, "[('a', '<U3'), ('b', '<i8')]");
        assert_eq!(
            note,
            "column \"a\" is text: line 4 has \"-\", and the values before it are numbers"
        );
        assert_eq!(told("a\n007\n12\n").1, "");
        assert_eq!(told("a,b\nx,NA\n").0, "[('a', '<U1'), ('b', '<U2')]");
        assert!(told("a;b\n1;2\n").1.contains("--delimiter ';'"));
        assert!(told("a\tb\n1\t2\n").1.contains(r"--delimiter '\t'"));
    }

    #[test]
    fn times_with_zones_are_those_of_greenwich() {
        let (dtype, bytes) =
            values("t,b\n2018-01-05T22:00:00-05:00,1\n2018-01-05T10:00:00Z,2\n", None).unwrap();
        assert_eq!(dtype, "[('t', '<M8[s]'), ('b', '<i8')]");
        assert_eq!(bytes[..8], 1_515_207_600_i64.to_le_bytes());
        // A time without a zone may be of any place.
        let mixed = values("t\n2018-01-05T10:00:00Z\n2018-01-05T10:00:00\n", None).unwrap().0;
        assert_eq!(mixed, "[('t', '<U20')]");
        let said = values("a\nx\n", Some("[('a', '<M8[ns]')]")).unwrap_err().to_string();
        assert_eq!(said, "line 2, column \"a\": \"x\" is no time such as 2018-01-05T10:00:00");
    }

    #[test]
    fn given_fields_are_found_by_name() {
        let given = "[('b', '>i2'), ('a', '|S3')]";
        let (_, bytes) = values("a,x,b\nab,9,258\n", Some(given)).unwrap();
        assert_eq!(bytes, b"\x01\x02ab\0");
        let said = |text: &str| values(text, Some(given)).unwrap_err().to_string();
        assert_eq!(said("a\nx\n"), "there is no column \"b\"");
        assert_eq!(
            said("a,b\nx,1\nx,70000\n"),
            "line 3, column \"b\": \"70000\" is no integer from -32768 to 32767"
        );
        assert_eq!(
            said("a,b\nlong,1\n"),
            "line 2, column \"a\": \"long\" is no text of at most 3 bytes"
        );
    }

    #[test]
    fn ragged_csv_is_refused() {
        let said = |text: &str| values(text, None).err().unwrap().to_string();
        assert_eq!(said(""), "there is no first line with the names of the columns");
        assert_eq!(said("a,a\n"), "two columns have the name \"a\"");
        assert_eq!(said("a,b\n1\n"), "line 2 has 1 value, and the first line has 2");
        assert!(
            said(&format!("a\n\"{}", "x".repeat(MAX_LINE + 10_000)))
                .contains("a line has more than")
        );
    }
}
