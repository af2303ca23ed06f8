//! Looking for damage, piece by piece.
//!
//! Small data are verified as `b2 verify` does it, checksums included. Of large data all values are
//! decoded in pieces; a seal, which covers all bytes together, is then not compared, and the report
//! says so.

use core::ops::Range;

use blosc_data::error::chain;
use blosc_data::verify::{VerifyOptions, verify};
use blosc_data::{Data, Dataset, MemberKind};
use serde_json::{Value, json};

use super::{PIECE_NBYTES, PIECE_NROWS, boxes, index, no_piece, read_box};
use crate::fault::{Fault, Result};
use crate::session::budget;

/// Data that take at most this number of bytes are verified at once.
const SMALL_NBYTES: u64 = 48 << 20;
/// Faults that are listed.
const MAX_FAULTS: usize = 1000;

/// The object to verify.
#[derive(Debug)]
enum Part {
    /// All of it, as `b2 verify` does it.
    Whole(Dataset),
    /// A member of a group, which may be large.
    Member {
        group: Dataset,
        name: String,
    },
    /// The items in a box.
    Box(Dataset, Vec<Range<u64>>),
    Bytes(Dataset, Range<u64>),
    Rows(Dataset, Range<u64>),
}

/// The findings in a piece.
#[derive(Debug, Default)]
pub(crate) struct Found {
    faults: Vec<Value>,
    notes: Vec<String>,
    nchunks: u64,
    more: Vec<Part>,
}

#[derive(Debug)]
pub(super) struct Verify {
    parts: Vec<Part>,
    faults: Vec<Value>,
    nfaults: u64,
    notes: Vec<String>,
    nchunks: u64,
}

impl Verify {
    pub(super) fn new(of: &Dataset) -> Self {
        let parts = vec![Part::Whole(of.clone())];
        Self { parts, faults: vec![], nfaults: 0, notes: vec![], nchunks: 0 }
    }

    pub(super) fn npieces(&self) -> u64 {
        self.parts.len() as u64
    }

    /// Looks at a piece. Damage is found, and is no fault of the request.
    pub(super) fn look(&self, number: u64) -> Result<Found> {
        match self.parts.get(index(number)).ok_or_else(no_piece)? {
            Part::Whole(of) => whole(of),
            Part::Member { group, name } => match &group.data {
                Data::Group(members) => match members.open(name) {
                    Ok(member) => Ok(Found { more: vec![Part::Whole(member)], ..Found::default() }),
                    Err(error) => Ok(fault(name, Err(error.into()))),
                },
                _ => Err(no_piece()),
            },
            Part::Box(of, bounds) => match &of.data {
                Data::Array(array) => {
                    Ok(fault(&place(&of.name, bounds), read_box(&**array, bounds).map(drop)))
                }
                _ => Err(no_piece()),
            },
            Part::Bytes(of, range) => match &of.data {
                Data::Bytes(bytes) => {
                    let mut dest = vec![0; index(range.end.saturating_sub(range.start))];
                    let read = bytes.read_at(range.start, &mut dest).map_err(Fault::from);
                    Ok(fault(&place(&of.name, core::slice::from_ref(range)), read))
                }
                _ => Err(no_piece()),
            },
            Part::Rows(of, rows) => match &of.data {
                Data::Table(table) => {
                    let read = table.read(&[], rows.clone()).map(drop).map_err(Fault::from);
                    Ok(fault(&place(&of.name, core::slice::from_ref(rows)), read))
                }
                _ => Err(no_piece()),
            },
        }
    }

    pub(super) fn take(&mut self, found: Found) {
        self.nfaults = self.nfaults.saturating_add(found.faults.len() as u64);
        let room = MAX_FAULTS.saturating_sub(self.faults.len());
        self.faults.extend(found.faults.into_iter().take(room));
        let room = MAX_FAULTS.saturating_sub(self.notes.len());
        self.notes.extend(found.notes.into_iter().take(room));
        self.nchunks = self.nchunks.saturating_add(found.nchunks);
        self.parts.extend(found.more);
    }

    pub(super) fn found(&self) -> Value {
        json!({
            "ok": self.nfaults == 0, "nfaults": self.nfaults, "nchunks": self.nchunks,
            "faults": self.faults, "notes": self.notes,
        })
    }
}

fn place(name: &str, bounds: &[Range<u64>]) -> String {
    let ends = bounds.iter().map(|range| format!("{}:{}", range.start, range.end));
    format!("{name}[{}]", ends.collect::<Vec<_>>().join(", "))
}

fn fault(place: &str, read: Result<()>) -> Found {
    let faults = read.err().map(|fault| {
        let message = fault.document().get("message").cloned();
        json!({ "place": place, "message": message })
    });
    Found { faults: faults.into_iter().collect(), ..Found::default() }
}

/// Verifies something small; of something large it lists the pieces.
fn whole(of: &Dataset) -> Result<Found> {
    if let Data::Group(group) = &of.data {
        let members = match group.members() {
            Ok(members) => members,
            Err(error) => return Ok(fault(&of.name, Err(error.into()))),
        };
        let values = members.into_iter().filter(|member| member.kind != MemberKind::Group);
        let member =
            |member: blosc_data::Member| Part::Member { group: of.clone(), name: member.name };
        let notes = group.lost();
        return Ok(Found { more: values.map(member).collect(), notes, ..Found::default() });
    }
    let stored = of.stored_nbytes().unwrap_or(0).max(of.nbytes().unwrap_or(0) / 4);
    let note = || vec![format!("{}: decoded in pieces, seals are not compared", of.name)];
    let more: Vec<Part> = match &of.data {
        _ if stored <= SMALL_NBYTES => return small(of),
        Data::Array(array) => {
            boxes(&**array)?.into_iter().map(|bounds| Part::Box(of.clone(), bounds)).collect()
        }
        Data::Bytes(bytes) => pieces(bytes.nbytes(), PIECE_NBYTES)
            .map(|range| Part::Bytes(of.clone(), range))
            .collect(),
        Data::Table(table) => {
            pieces(table.nrows(), PIECE_NROWS).map(|rows| Part::Rows(of.clone(), rows)).collect()
        }
        _ => return small(of),
    };
    Ok(Found { more, notes: note(), ..Found::default() })
}

fn pieces(len: u64, piece: u64) -> impl Iterator<Item = Range<u64>> {
    let start = move |n: u64| n.saturating_mul(piece);
    (0..len.div_ceil(piece)).map(move |n| start(n)..len.min(start(n.saturating_add(1))))
}

fn small(of: &Dataset) -> Result<Found> {
    let options = VerifyOptions { budget: budget(), ..VerifyOptions::default() };
    let report = verify(of, &options, &mut |_| ())?;
    let bad = report.bad.iter().map(|bad| {
        let message = chain(&bad.error);
        json!({
            "place": of.name, "chunk": bad.nchunk, "offset": bad.offset, "message": message,
        })
    });
    let other =
        report.other.iter().map(|error| json!({ "place": of.name, "message": chain(error) }));
    let notes = report.notes.iter().map(|note| format!("{}: {note}", of.name)).collect();
    Ok(Found { faults: bad.chain(other).collect(), notes, nchunks: report.nchunks, more: vec![] })
}
