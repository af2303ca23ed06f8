//! Randomly drawn types of items and rows of them.

use bcolz_store::{Cname, CreateOptions, Dtype, Durability, Json, Shuffle, StorageParams};
use serde_json::{Value, json};

use super::super::case::{Case, Draw};
use crate::failure::Result;

/// The properties of a new array.
#[derive(Clone, Debug)]
pub(in crate::interop) struct Recipe {
    pub(in crate::interop) dtype: &'static str,
    pub(in crate::interop) row_shape: Vec<u64>,
    pub(in crate::interop) rowsize: usize,
    pub(in crate::interop) chunklen: Option<u64>,
    expectedlen: u64,
    pub(in crate::interop) clevel: u8,
    pub(in crate::interop) shuffle: u8,
    pub(in crate::interop) cname: &'static str,
    quantize: u8,
    /// The fill value, as JSON and as an item.
    dflt: Option<(Value, Json, Vec<u8>)>,
    seed: u8,
}

const TYPES: [&str; 26] = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "int32",
    "int64",
    "float64",
    "bool",
    "float16",
    ">i4",
    ">f8",
    ">u2",
    "|S1",
    "|S7",
    "|S300",
    "<U3",
    "|V7",
    "|V300",
    "datetime64[ns]",
    "timedelta64[ns]",
];

impl Recipe {
    pub(in crate::interop) fn draw(draw: &mut Draw, len: usize) -> Self {
        let dtype = draw.pick(&TYPES);
        let row_shape = match draw.within(0..6) {
            0 => vec![draw.within(1..6) as u64],
            1 => vec![draw.within(1..4) as u64, draw.within(1..4) as u64],
            _ => vec![],
        };
        let itemsize = Dtype::parse(dtype).map_or(1, |dtype| dtype.itemsize());
        let rowsize = row_shape
            .iter()
            .fold(itemsize, |size, length| size * usize::try_from(*length).unwrap_or(1));
        let is_float = matches!(dtype, "float32" | "float64");
        Self {
            dtype,
            rowsize,
            chunklen: draw.chance(80).then(|| 1 + draw.any_size(9) as u64),
            expectedlen: if draw.chance(70) { len as u64 } else { draw.any_size(30) as u64 },
            clevel: u8::try_from(draw.within(0..10)).unwrap_or(5),
            shuffle: draw.pick(&[0, 1, 1, 2]),
            cname: draw.pick(&["lz4", "lz4", "blosclz", "lz4hc", "zlib", "zstd"]),
            quantize: if is_float && draw.chance(10) { draw.pick(&[1, 2, 3, 4]) } else { 0 },
            dflt: if row_shape.is_empty() && draw.chance(40) { dflt(dtype) } else { None },
            row_shape,
            seed: draw.pick(&[0, 1, 7, 91]),
        }
    }

    /// The recipe without the properties that a table of bcolz does not take from its columns.
    pub(in crate::interop) fn plain(self) -> Self {
        Self { dflt: None, quantize: 0, ..self }
    }

    pub(in crate::interop) fn is_lossy(&self) -> bool {
        self.quantize > 0
    }

    /// Whether bcolz fills rows of this type when it makes an array longer.
    pub(in crate::interop) fn is_filled(&self) -> bool {
        !self.dtype.starts_with("|V") && !self.dtype.contains("64[") && self.row_shape.is_empty()
    }

    /// The item that fills new rows.
    pub(in crate::interop) fn fill(&self) -> Vec<u8> {
        self.dflt.as_ref().map_or_else(|| vec![0; self.rowsize], |(_, _, item)| item.clone())
    }

    /// Draws a number of rows.
    pub(in crate::interop) fn rows(&self, draw: &mut Draw, case: &Case, rows: usize) -> Vec<u8> {
        let start = draw.within(0..1000);
        let data = case.data();
        let source = data.iter().copied().cycle().skip(start);
        let noise = (0..).map(|i: usize| self.seed.wrapping_mul(i.to_le_bytes()[0]));
        let mut bytes: Vec<u8> = if data.is_empty() {
            noise.take(rows * self.rowsize).collect()
        } else {
            source.zip(noise).map(|(a, b)| a ^ b).take(rows * self.rowsize).collect()
        };
        match self.dtype {
            "bool" => bytes.iter_mut().for_each(|byte| *byte &= 1),
            // Makes characters valid and strings non-empty. For a chunk in memory with only empty
            // strings, bcolz returns bytes that it never set, and writes them to disk.
            "<U3" => {
                bytes.chunks_mut(4).for_each(|c| c[1..].fill(0));
                bytes.chunks_mut(12).for_each(|item| item[0] |= 0x20);
            }
            // Avoids infinities: scaling them gives a warning.
            "float32" if self.is_lossy() => bytes.chunks_mut(4).for_each(|item| item[3] = 0x3f),
            "float64" if self.is_lossy() => bytes.chunks_mut(8).for_each(|item| item[7] = 0x3f),
            _ => {}
        }
        bytes
    }

    pub(in crate::interop) fn json(&self) -> Value {
        json!({
            "dtype": self.dtype, "row_shape": self.row_shape, "chunklen": self.chunklen,
            "expectedlen": self.expectedlen, "clevel": self.clevel, "shuffle": self.shuffle, "cname": self.cname,
            "quantize": self.quantize, "dflt": self.dflt.as_ref().map(|(json, ..)| json),
        })
    }

    pub(in crate::interop) fn options(&self) -> Result<CreateOptions> {
        let shuffle = [Shuffle::None, Shuffle::Byte, Shuffle::Bit][usize::from(self.shuffle % 3)];
        let cparams = StorageParams::default()
            .clevel(self.clevel)
            .shuffle(shuffle)
            .cname(Cname::from_name(self.cname).unwrap_or_default())
            .quantize(self.quantize);
        Ok(CreateOptions::new(Dtype::parse(self.dtype)?)
            .row_shape(self.row_shape.clone())
            .chunklen(self.chunklen)
            .expectedlen(Some(self.expectedlen))
            .cparams(cparams)
            .dflt(self.dflt.as_ref().map(|(_, json, _)| json.clone()))
            .durability(Durability::ProcessDeath))
    }
}

/// A fill value other than zero, if the type has a simple one.
fn dflt(dtype: &str) -> Option<(Value, Json, Vec<u8>)> {
    match dtype {
        "int8" => Some((json!(-3), Json::Int(-3), vec![0xfd])),
        "int64" => Some((json!(-3), Json::Int(-3), (-3_i64).to_le_bytes().to_vec())),
        "uint64" => Some((json!(u64::MAX), Json::from(u64::MAX), vec![0xff; 8])),
        ">i4" => Some((json!(258), Json::Int(258), vec![0, 0, 1, 2])),
        "float32" => Some((json!(0.5), Json::Float(0.5), 0.5_f32.to_le_bytes().to_vec())),
        "float64" => Some((json!(1e300), Json::Float(1e300), 1e300_f64.to_le_bytes().to_vec())),
        "bool" => Some((json!(true), Json::Bool(true), vec![1])),
        "|S7" => Some((json!("ab"), Json::from("ab"), b"ab\0\0\0\0\0".to_vec())),
        "<U3" => Some((json!("é"), Json::from("é"), [0xe9].into_iter().chain([0; 11]).collect())),
        _ => None,
    }
}
