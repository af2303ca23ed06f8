//! Columns of text of any length.

use core::ops::Range;
use std::string::FromUtf8Error;

use b2frame::NdArray;

use super::{Column, Scratch, first_len, physical_row};
use crate::batches::{BatchArray, Items};
use crate::error::{Corrupt, Result};
use crate::table::Values;
use crate::table::live::Span;
use crate::value::Texts;

impl Column {
    /// Bytes of the text of some logical rows.
    pub(super) fn text_nbytes(&self, offsets: &NdArray, rows: &Range<u64>) -> Result<u64> {
        let mut nbytes = 0_u64;
        for span in self.table.spans(rows)? {
            self.check_len(&span)?;
            let read = |rows: Range<u64>| -> Result<Vec<u64>> {
                let bytes = self.read_array(offsets, rows)?;
                Ok(bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
            };
            let Range { start, end } = span.rows;
            let after = end.saturating_add(1);
            // Of rows that all count, the first offset and the last tell the bytes.
            let offsets = match span.flags.is_empty() {
                true => [read(start..start.saturating_add(1))?, read(end..after)?].concat(),
                false => read(start..after)?,
            };
            let bounds = offsets.iter().zip(offsets.iter().skip(1));
            let texts = bounds.map(|(start, end)| end.saturating_sub(*start));
            nbytes = span.keep(texts).fold(nbytes, u64::saturating_add);
        }
        Ok(nbytes)
    }

    /// Texts from items of batches.
    pub(super) fn read_texts(&self, spans: &[Span], batches: &BatchArray) -> Result<Texts> {
        let mut found = Texts::default();
        for span in spans {
            let rows = span.rows.clone();
            let Ok(texts) = batches.texts(rows.clone()) else {
                // A block also holds values of other kinds. Read as values of any kind, the
                // requested rows may all be text; otherwise the error names the first other value.
                let items = batches.items(rows.clone())?;
                for (row, item) in span.keep(rows.zip(items)) {
                    self.check_cell(row, &item)?;
                    found.push(item.as_str());
                }
                continue;
            };
            let all = 0..texts.len();
            if span.flags.is_empty() {
                found.append(texts, all);
            } else {
                let nths = span.keep(all);
                nths.for_each(|n| found.extend(&texts, n..n.saturating_add(1)));
            }
        }
        Ok(found)
    }

    pub(super) fn read_utf8(
        &self,
        spans: &[Span],
        offsets: &NdArray,
        bytes: &NdArray,
        memory: Values,
    ) -> Result<Values> {
        let (mut ends, text) = match memory {
            Values::Text { ends, text } => (ends, text),
            _ => (Vec::new(), String::new()),
        };
        ends.clear();
        let (mut text, mut len) = (text.into_bytes(), 0);
        let mut scratch = self.scratch.check_out(Scratch::default);
        for span in spans {
            let rows = span.rows.start..span.rows.end.saturating_add(1);
            self.read_array_to(offsets, &rows, &mut scratch.0, 0)?;
            let offsets = Offsets(scratch.0.as_chunks().0);
            let nbytes = first_len(bytes);
            offsets.check(span.rows.start, nbytes).map_err(|what| self.corrupt(what))?;
            let Range { start, end } = offsets.range();
            if span.flags.is_empty() {
                self.read_array_to(bytes, &(start..end), &mut text, len)?;
                ends.extend(offsets.ends(start).map(|end| len.saturating_add(end)));
            } else {
                let read = self.read_array(bytes, start..end)?;
                text.truncate(len);
                let mut before = 0;
                let cells = offsets.ends(start).map(|end| {
                    let cell = before..end;
                    before = end;
                    cell
                });
                for cell in span.keep(cells) {
                    text.extend_from_slice(read.get(cell).unwrap_or_default());
                    ends.push(text.len());
                }
            }
            len = text.len();
        }
        text.truncate(len);
        match whole_text(text, &ends) {
            Ok(text) => Ok(Values::Text { ends, text }),
            Err(at) => Err(self.corrupt(Corrupt::Utf8 { row: physical_row(spans, at) })),
        }
    }
}

/// The texts of rows, if all are UTF-8 and none begins inside of a character; otherwise the number
/// of the first invalid row.
fn whole_text(bytes: Vec<u8>, ends: &[usize]) -> core::result::Result<String, usize> {
    let found = String::from_utf8(bytes).map_err(FromUtf8Error::into_bytes).and_then(|text| {
        let is_whole = text.is_ascii() || ends.iter().all(|end| text.is_char_boundary(*end));
        if is_whole { Ok(text) } else { Err(text.into_bytes()) }
    });
    found.map_err(|bytes| {
        let mut start = 0;
        let is_text = |end: &usize| {
            let cell = bytes.get(start..*end).unwrap_or_default();
            start = *end;
            core::str::from_utf8(cell).is_ok()
        };
        ends.iter().map(is_text).position(|is_text| !is_text).unwrap_or_default()
    })
}

/// The start of each row's text, and the end of the last.
struct Offsets<'a>(&'a [[u8; 8]]);

impl Offsets<'_> {
    fn offset_at(&self, n: usize) -> i64 {
        self.0.get(n).map_or(0, |bytes| i64::from_le_bytes(*bytes))
    }

    /// Checks that offsets ascend, from 0 for the first row, and end inside of the text.
    fn check(&self, first_row: u64, nbytes: u64) -> core::result::Result<(), Corrupt> {
        let last = self.offset_at(self.0.len().saturating_sub(1));
        let is_inside = u64::try_from(last).is_ok_and(|last| last <= nbytes);
        let starts = if first_row == 0 { self.offset_at(0) == 0 } else { self.offset_at(0) >= 0 };
        let numbers = || self.0.iter().map(|bytes| i64::from_le_bytes(*bytes));
        // Without an early exit, so that the compiler compares several at a time.
        let ascends = numbers().zip(numbers().skip(1)).fold(true, |fits, (a, b)| fits & (a <= b));
        if is_inside && starts && ascends {
            return Ok(());
        }
        for (row, (start, end)) in (first_row..).zip(numbers().zip(numbers().skip(1))) {
            let is_inside = start >= 0 && u64::try_from(end).is_ok_and(|end| end <= nbytes);
            if start > end || !is_inside || (row == 0 && start != 0) {
                return Err(Corrupt::Offsets { row, start, end, nbytes });
            }
        }
        Ok(())
    }

    /// The range of the text of all rows.
    fn range(&self) -> Range<u64> {
        let narrow = |offset: i64| u64::try_from(offset).unwrap_or_default();
        narrow(self.offset_at(0))..narrow(self.offset_at(self.0.len().saturating_sub(1)))
    }

    /// The end of each row's text, counted from `start`.
    fn ends(&self, start: u64) -> impl Iterator<Item = usize> {
        self.0.iter().skip(1).map(move |bytes| {
            let end = u64::from_le_bytes(*bytes).saturating_sub(start);
            usize::try_from(end).unwrap_or(usize::MAX)
        })
    }
}
