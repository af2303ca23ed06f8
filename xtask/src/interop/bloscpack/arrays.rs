//! NumPy arrays in Bloscpack files.

use bloscpack::numpy::{ArrayInfo, NpArray, Order, pack_array, unpack_array};
use serde_json::json;

use super::{Bench, Case, Draw, Packing, Verdict, compare};
use crate::failure::{Result, fail};

/// The widest items that Bloscpack writes (bytes).
const MAX_ITEMSIZE: u32 = 255;

/// Types of items in NumPy's spelling, and their sizes (bytes).
const DTYPES: &[(&str, usize)] = &[
    ("|b1", 1),
    ("|u1", 1),
    ("<i2", 2),
    (">u4", 4),
    ("<f4", 4),
    ("<f8", 8),
    (">f8", 8),
    ("<c16", 16),
    ("|S1", 1),
    ("|S7", 7),
    ("<U5", 20),
    ("|V3", 3),
    ("<M8[D]", 8),
    ("<m8[25s]", 8),
    ("[('a', '<i4'), ('b', '<f8'), ('c', '|S3')]", 15),
    ("[('x', '<f4', (2, 3)), ('ä', [('y', '|u1'), ('z', '>i2')])]", 27),
    ("|S255", 255),
    ("|S300", 300),
];

/// Bloscpack writes an array, the crate reads it.
pub(in crate::interop) fn read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut drawn = Drawn::new(case)?;
    let itemsize = drawn.itemsize();
    // Bloscpack does not cut chunks at whole items by itself.
    drawn.how.chunk_size = drawn.how.chunk_size.div_ceil(itemsize) * itemsize;
    let mut request = drawn.how.request("blp_array_write", case);
    let metadata = drawn.array.info().to_metadata()?;
    request["typesize"] = itemsize.into();
    for key in ["dtype", "shape", "order"] {
        request[key] = metadata[key].clone();
    }
    if itemsize > MAX_ITEMSIZE {
        return Ok(Verdict::Refused);
    }
    let blp = bench.oracle.ask(request, &[drawn.array.data()])?.into_first()?;
    check(&drawn.array, &unpack_array(&blp)?)?;
    if drawn.how.is_exact(case) {
        compare("the whole file", &blp, &pack_array(&drawn.array, drawn.how.options(case))?)?;
    }
    Ok(Verdict::Equal)
}

/// The crate writes an array, Bloscpack reads it.
pub(in crate::interop) fn write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let drawn = Drawn::new(case)?;
    let blp = pack_array(&drawn.array, drawn.how.options(case))?;
    check(&drawn.array, &unpack_array(&blp)?)?;
    let reply =
        bench.oracle.ask(json!({"op": "blp_array_read", "nthreads": case.threads}), &[&blp])?;
    let (ours, theirs) = (drawn.array.info().to_metadata()?, &reply.facts["metadata"]);
    if drawn.itemsize() <= MAX_ITEMSIZE && ours != *theirs {
        return fail(format!("metadata {ours}, Bloscpack writes {theirs}"));
    }
    compare("read by Bloscpack", drawn.array.data(), &reply.into_first()?)?;
    Ok(Verdict::Equal)
}

/// An array made of the whole rows in the data of a case.
struct Drawn {
    array: NpArray,
    how: Packing,
}

impl Drawn {
    fn new(case: &Case) -> Result<Self> {
        let mut draw = Draw::new(case.recipe.seed.into(), "array", 0);
        let how = Packing::draw(&mut draw, case);
        let (dtype, itemsize) = draw.pick(DTYPES);
        let mut data = case.data();
        if dtype.starts_with('|') || dtype.contains('U') {
            // NumPy interprets the values of these types, so they must be valid.
            data.iter_mut().for_each(|byte| *byte &= 1);
        }
        if dtype.contains('U') {
            data.chunks_mut(4).for_each(|char| char[1..].fill(0));
        }
        let shape = shape(&mut draw, data.len() / itemsize);
        let nitems: usize = shape.iter().product();
        data.truncate(nitems * itemsize);
        let shape: Vec<u64> = shape.iter().map(|n| *n as u64).collect();
        // If both orders are the same, NumPy reports C order.
        let flat = shape.iter().filter(|n| **n != 1).count() < 2 || nitems == 0;
        let order = if !flat && draw.chance(40) { Order::F } else { Order::C };
        let array = NpArray::new(ArrayInfo::new(dtype.parse()?, shape, order)?, data)?;
        Ok(Self { array, how })
    }

    fn itemsize(&self) -> u32 {
        u32::try_from(self.array.info().dtype().itemsize()).unwrap_or(u32::MAX)
    }
}

/// Up to four dimensions with at most `nitems` items.
fn shape(draw: &mut Draw, nitems: usize) -> Vec<usize> {
    if nitems == 1 && draw.chance(50) {
        return vec![];
    }
    let mut shape: Vec<usize> = (0..draw.within(0..4)).map(|_| draw.within(1..5)).collect();
    let row: usize = shape.iter().product();
    shape.insert(draw.within(0..shape.len() + 1), nitems / row);
    shape
}

fn check(expected: &NpArray, found: &NpArray) -> Result<()> {
    let (ours, theirs) = (expected.info(), found.info());
    if ours != theirs {
        return fail(format!("{ours:?} expected, found {theirs:?}"));
    }
    compare("items", expected.data(), found.data())
}
