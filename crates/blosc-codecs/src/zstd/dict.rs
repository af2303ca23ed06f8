//! Dictionaries: content only, or content after tables (RFC 8878, 5).

use alloc::{boxed::Box, vec::Vec};

use super::{
    Error, Result,
    header::number32,
    huffman::Huffman,
    sequences::{DISTANCES, LITERAL_LENGTHS, MATCH_LENGTHS, Table},
};
use crate::{CodecId, Param};

/// The first number of a dictionary with tables.
const MAGIC: u32 = 0xEC30_A437;

/// A dictionary.
pub(super) struct Dict {
    /// The whole dictionary. As in the C library, matches may reach its tables too.
    pub(super) bytes: Vec<u8>,
    /// Its number; 0 if it has content only.
    pub(super) id: u32,
    pub(super) tables: Option<Box<DictTables>>,
}

/// The initial tables and distances of a frame.
pub(super) struct DictTables {
    pub(super) huffman: Huffman,
    pub(super) literal_lengths: Table,
    pub(super) match_lengths: Table,
    pub(super) distances: Table,
    pub(super) last: [usize; 3],
}

impl Dict {
    pub(super) fn new(bytes: &[u8]) -> Result<Self> {
        let mut dict = Self { bytes: bytes.to_vec(), id: 0, tables: None };
        if bytes.len() >= 8 && number32(bytes, 0)? == MAGIC {
            dict.id = number32(bytes, 4)?;
            let message = "its tables are damaged";
            let what = Param::BadDict { nbytes: bytes.len(), message };
            let tables =
                DictTables::read(bytes).map_err(|_| Error::Param { codec: CodecId::ZSTD, what })?;
            dict.tables = Some(Box::new(tables));
        }
        Ok(dict)
    }
}

impl DictTables {
    fn read(bytes: &[u8]) -> Result<Self> {
        let mut tables = Self {
            huffman: Huffman::new(),
            literal_lengths: Table::new(),
            match_lengths: Table::new(),
            distances: Table::new(),
            last: [0; 3],
        };
        let end = bytes.len();
        let at = tables.huffman.read(bytes, 8, end)?;
        tables.huffman.make_double();
        let at = tables.distances.read(&DISTANCES, bytes, at, end)?;
        let at = tables.match_lengths.read(&MATCH_LENGTHS, bytes, at, end)?;
        let at = tables.literal_lengths.read(&LITERAL_LENGTHS, bytes, at, end)?;
        for (n, distance) in tables.last.iter_mut().enumerate() {
            *distance = number32(bytes, at + 4 * n)? as usize;
            let available = end.saturating_sub(at + 12);
            if *distance == 0 || *distance > available {
                let what = crate::Corrupt::Distance { distance: *distance, available };
                return Err(super::fault::corrupt(at, what));
            }
        }
        Ok(tables)
    }
}
