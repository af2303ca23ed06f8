//! Compressed blocks: the literals, then the sequences (RFC 8878, 3.1.1.3).

use alloc::{boxed::Box, vec::Vec};
use core::ops::Range;

use super::{
    Result,
    bits::Backward,
    dict::Dict,
    fault::{Fault, corrupt, truncated},
    header::number,
    huffman::Huffman,
    sequences::{
        Code, DISTANCES, LITERAL_LENGTHS, Literals, MATCH_LENGTHS, Output, Sequences, Table,
    },
    streams,
};
use crate::{
    Corrupt, Simd,
    lz::{fast_decode::run, sequence::MARGIN},
};

/// The initial distances of a frame without a dictionary.
const FIRST_DISTANCES: [usize; 3] = [1, 4, 8];

/// State that blocks pass to later blocks, and the memory in which they are decoded.
pub(super) struct Block {
    simd: Simd,
    huffman: Kept<Huffman>,
    literal_lengths: Kept<Table>,
    match_lengths: Kept<Table>,
    distances: Kept<Table>,
    last: [usize; 3],
    /// Decoded literals, and space for copies that run past their end.
    literals: Vec<u8>,
    predefined: Box<Predefined>,
}

/// The tables that need no counts.
struct Predefined {
    literal_lengths: Table,
    match_lengths: Table,
    distances: Table,
}

/// A table, and the kind that was used last.
struct Kept<T> {
    own: T,
    which: Which,
}

/// The location of the table that was used last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Nowhere,
    Own,
    Dict,
    Predefined,
}

impl Block {
    pub(super) fn new(simd: Simd) -> Self {
        let table = || Kept { own: Table::new(), which: Which::Nowhere };
        Self {
            simd,
            huffman: Kept { own: Huffman::new(), which: Which::Nowhere },
            literal_lengths: table(),
            match_lengths: table(),
            distances: table(),
            last: FIRST_DISTANCES,
            literals: Vec::new(),
            predefined: Box::new(Predefined {
                literal_lengths: Table::predefined(&LITERAL_LENGTHS),
                match_lengths: Table::predefined(&MATCH_LENGTHS),
                distances: Table::predefined(&DISTANCES),
            }),
        }
    }

    /// Forgets the frame before.
    pub(super) fn begin(&mut self, dict: Option<&Dict>) {
        let tables = dict.and_then(|dict| dict.tables.as_ref());
        let which = if tables.is_some() { Which::Dict } else { Which::Nowhere };
        self.huffman.which = which;
        self.literal_lengths.which = which;
        self.match_lengths.which = which;
        self.distances.which = which;
        self.last = tables.map_or(FIRST_DISTANCES, |tables| tables.last);
    }

    /// Decodes the block `src[range]`.
    pub(super) fn decode(
        &mut self,
        dict: Option<&Dict>,
        src: &[u8],
        Range { start, end }: Range<usize>,
        max_block: usize,
        output: &mut Output<'_>,
    ) -> Result<()> {
        let head = LiteralsHeader::read(src, start..end, max_block)?;
        let (nsequences, at) = count_sequences(src, head.end()..end)?;
        let mut scratch = core::mem::take(&mut self.literals);
        let result = if nsequences == 0 {
            let to = output.next(head.nbytes, start)?;
            self.decode_literals(dict, src, &head, to)
        } else {
            self.decode_sequences(dict, src, (&head, nsequences, at..end), &mut scratch, output)
        };
        self.literals = scratch;
        result
    }

    fn decode_sequences(
        &mut self,
        dict: Option<&Dict>,
        src: &[u8],
        (head, nsequences, range): (&LiteralsHeader, usize, Range<usize>),
        scratch: &mut Vec<u8>,
        output: &mut Output<'_>,
    ) -> Result<()> {
        let mut literals = if let LiteralsKind::Raw = head.kind {
            Literals { bytes: src, at: head.start, end: head.end() }
        } else {
            let nbytes = head.nbytes;
            scratch.resize(scratch.len().max(nbytes + MARGIN), 0);
            self.decode_literals(dict, src, head, &mut scratch[..nbytes])?;
            Literals { bytes: scratch, at: 0, end: nbytes }
        };
        let at = range.start;
        let bits = self.read_tables(src, range)?;
        let tables = dict.and_then(|dict| dict.tables.as_deref());
        let predefined = &*self.predefined;
        let sequences = Sequences {
            nsequences,
            bits,
            literal_lengths: self.literal_lengths.used(
                tables.map(|tables| &tables.literal_lengths),
                Some(&predefined.literal_lengths),
                at,
            )?,
            match_lengths: self.match_lengths.used(
                tables.map(|tables| &tables.match_lengths),
                Some(&predefined.match_lengths),
                at,
            )?,
            distances: self.distances.used(
                tables.map(|tables| &tables.distances),
                Some(&predefined.distances),
                at,
            )?,
            last: &mut self.last,
            literals: &mut literals,
            output,
            at,
        };
        run(self.simd, sequences)?;
        let rest = literals.bytes.get(literals.at..literals.end).unwrap_or_default();
        output.copy(rest, at)
    }

    /// Reads the tables of the sequences, and returns the position after them.
    fn read_tables<'a>(
        &mut self,
        src: &'a [u8],
        Range { start, end }: Range<usize>,
    ) -> Result<Backward<'a>> {
        let [modes, ..] = number(&src[..end], start, 1)?.to_le_bytes();
        if modes & 3 != 0 {
            return Err(Fault::Reserved.into_error(start));
        }
        let mut at = start + 1;
        let tables = [
            (&mut self.literal_lengths, &LITERAL_LENGTHS, modes >> 6),
            (&mut self.distances, &DISTANCES, modes >> 4 & 3),
            (&mut self.match_lengths, &MATCH_LENGTHS, modes >> 2 & 3),
        ];
        for (kept, code, mode) in tables {
            at = kept.read(code, mode, src, at..end)?;
        }
        Backward::new(src, at..end)
    }

    /// Decodes the literals to all of `dest`.
    fn decode_literals(
        &mut self,
        dict: Option<&Dict>,
        src: &[u8],
        head: &LiteralsHeader,
        dest: &mut [u8],
    ) -> Result<()> {
        let Range { mut start, end } = head.start..head.end();
        let bytes = src.get(start..end).unwrap_or_default();
        let nstreams = match head.kind {
            LiteralsKind::Raw => {
                dest.copy_from_slice(bytes);
                return Ok(());
            }
            LiteralsKind::Run => {
                dest.fill(bytes.first().copied().unwrap_or(0));
                return Ok(());
            }
            LiteralsKind::Packed { nstreams, has_code } => {
                if has_code {
                    self.huffman.which = Which::Nowhere;
                    start = self.huffman.own.read(src, start, end)?;
                    self.huffman.which = Which::Own;
                }
                nstreams
            }
        };
        if nstreams == 4 && streams::takes_pairs(end - start, dest.len()) {
            self.huffman.own.make_double();
        }
        let tables = dict.and_then(|dict| dict.tables.as_ref());
        let huffman = self.huffman.used(tables.map(|tables| &tables.huffman), None, start)?;
        if nstreams == 1 {
            streams::decode_one(huffman, src, start..end, dest)
        } else {
            streams::decode_four(huffman, self.simd, src, start..end, dest)
        }
    }
}

impl<T> Kept<T> {
    /// The table that was used last.
    fn used<'a>(
        &'a self,
        dict: Option<&'a T>,
        predefined: Option<&'a T>,
        at: usize,
    ) -> Result<&'a T> {
        let table = match self.which {
            Which::Nowhere => None,
            Which::Own => Some(&self.own),
            Which::Dict => dict,
            Which::Predefined => predefined,
        };
        table.ok_or_else(|| Fault::NoTable.into_error(at))
    }
}

impl Kept<Table> {
    /// Reads the table of `mode` from `src[range]`; returns its end.
    fn read(
        &mut self,
        code: &Code,
        mode: u8,
        src: &[u8],
        Range { start, end }: Range<usize>,
    ) -> Result<usize> {
        // A defective table must not be used later.
        let before = core::mem::replace(&mut self.which, Which::Nowhere);
        let mut next = start;
        self.which = match mode {
            0 => Which::Predefined,
            1 => {
                let [symbol, ..] = number(&src[..end], start, 1)?.to_le_bytes();
                self.own.set_single(code, symbol, start)?;
                next += 1;
                Which::Own
            }
            2 => {
                next = self.own.read(code, src, start, end)?;
                Which::Own
            }
            _ if before == Which::Nowhere => return Err(Fault::NoTable.into_error(start)),
            _ => before,
        };
        Ok(next)
    }
}

/// The storage of literals.
enum LiteralsKind {
    Raw,
    Run,
    Packed {
        nstreams: u8,
        /// Whether the weights of a code precede the streams.
        has_code: bool,
    },
}

/// The header of the literals.
struct LiteralsHeader {
    kind: LiteralsKind,
    /// Literals.
    nbytes: usize,
    /// Start of the stored literals,
    start: usize,
    /// and their stored size (bytes).
    cbytes: usize,
}

impl LiteralsHeader {
    fn read(src: &[u8], Range { start, end }: Range<usize>, max_block: usize) -> Result<Self> {
        let src = &src[..end];
        let [first, ..] = number(src, start, 1)?.to_le_bytes();
        let format = usize::from(first >> 2 & 3);
        let (nheader, width) = match (first & 3, format) {
            (0 | 1, 0 | 2) => (1, 5),
            (0 | 1, 1) => (2, 12),
            (0 | 1, _) => (3, 20),
            (_, 0 | 1) => (3, 10),
            (_, 2) => (4, 14),
            _ => (5, 18),
        };
        let word = number(src, start, nheader)?;
        let field = |at: u32, width: u32| {
            // At most 20 bits.
            usize::try_from(word >> at & ((1 << width) - 1)).unwrap_or(usize::MAX)
        };
        let is_packed = first & 2 != 0;
        let nbytes = field(if is_packed || format % 2 == 1 { 4 } else { 3 }, width);
        let (kind, cbytes) = match first & 3 {
            0 => (LiteralsKind::Raw, nbytes),
            1 => (LiteralsKind::Run, 1),
            kind => {
                let nstreams = if format == 0 { 1 } else { 4 };
                let has_code = kind == 2;
                (LiteralsKind::Packed { nstreams, has_code }, field(4 + width, width))
            }
        };
        if nbytes > max_block {
            return Err(Fault::BlockSize { nbytes, limit: max_block }.into_error(start));
        }
        let start = start + nheader;
        if cbytes > end - start {
            return Err(truncated(start, cbytes, end - start));
        }
        Ok(Self { kind, nbytes, start, cbytes })
    }

    const fn end(&self) -> usize {
        self.start + self.cbytes
    }
}

/// The number of sequences, and the position after it.
fn count_sequences(src: &[u8], Range { start, end }: Range<usize>) -> Result<(usize, usize)> {
    let src = &src[..end];
    let [first, ..] = number(src, start, 1)?.to_le_bytes();
    let (low, nbytes) = match first {
        0 if start + 1 < end => {
            return Err(corrupt(start + 1, Corrupt::Trailing { extra: end - start - 1 }));
        }
        0..=127 => (0, 1),
        128..=254 => (usize::from(first - 128) << 8, 2),
        255 => (0x7F00, 3),
    };
    let word = number(src, start, nbytes)?;
    let number = match nbytes {
        1 => word,
        _ => word >> 8,
    };
    Ok((low + usize::try_from(number).unwrap_or(usize::MAX), start + nbytes))
}
