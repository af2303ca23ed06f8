//! N-dimensional arrays: python-blosc2 and NumPy against `b2frame`.
//!
//! NumPy determines the content of a part. `b2frame` and python-blosc2 change an array in turn, and
//! after every step both must read the content of a model in NumPy.

use std::{fs, path::PathBuf};

use b2frame::{
    Budget, Durability, EditOptions, NdArray, NdParams, NdWriter,
    nd::{Fill, Pick, Selection},
};
use blosc_chunk::{CParams, CodecId, Level, Pipeline};
use blosc_dtype::{Dtype, Field, Kind};
use serde_json::{Value, json};

use super::{Bench, Case, Draw, Verdict, chunks::threads, compare};
use crate::failure::{Context, Result, fail};

/// Types of items in all forms: codes, lists, dictionaries.
const DTYPES: &[&str] = &[
    "<i4",
    "<i4",
    "|u1",
    "|b1",
    "<f4",
    ">f8",
    "<f8",
    "<i8",
    "<f2",
    "<u2",
    "<c16",
    "|S7",
    "<U5",
    "<M8[ns]",
    "|V5",
    "|V300",
    "[('a', '<i4'), ('b', '<f8')]",
    "[('a', 'u1'), ('x', '<i2', (3,)), ('n', [('p', 'u1'), ('q', '<f4', (2, 2))])]",
    "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [0, 8], 'itemsize': 16, 'aligned': True}",
];
/// python-blosc2 drops the fields of items that are not in the order of their offsets.
const ONLY_OURS: &str =
    "{'names': ['a', 'b'], 'formats': ['<i4', 'u1'], 'offsets': [4, 2], 'itemsize': 11}";
/// Most items of an array.
const MAX_ITEMS: usize = 30_000;
/// Most bytes of an array.
const MAX_NBYTES: usize = 1 << 20;
const STEPS: usize = 5;

/// A randomly drawn array.
#[derive(Clone, Debug)]
struct Array {
    shape: Vec<u64>,
    chunks: Vec<u32>,
    blocks: Vec<u32>,
    dtype: &'static str,
    itemsize: usize,
    fill: &'static str,
    filter: u8,
}

/// python-blosc2 writes an array, `b2frame` reads parts of it.
pub(super) fn read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "array", 0);
    let array = Array::draw(&mut draw, 0)?;
    read_one(bench, case, &array, &mut draw).at(format!("{array:?}"))
}

fn read_one(bench: &mut Bench, case: &Case, array: &Array, draw: &mut Draw) -> Result<Verdict> {
    let slices: Vec<Vec<Value>> = (0..4).map(|_| array.slices(draw, true)).collect();
    let (oindex, items) = (array.lists(draw), array.items(draw));
    let path = bench.folder.join("array.b2nd");
    remove(&path);
    let mut request = array.request("array_create", case);
    request["path"] = if case.through_file { json!(path) } else { json!("") };
    // A sparse frame is a directory.
    request["contiguous"] = draw.chance(70).into();
    request["slices"] = json!(slices);
    request["oindex"] = json!(oindex);
    request["items"] = json!(items);
    let Some(reply) = bench.oracle.try_ask(request, &[&array.data(case)])? else {
        return Ok(Verdict::Refused);
    };
    if !case.through_file && array.itemsize > 255 {
        // The frame of an array made in memory has a wrong typesize of 1, and python-blosc2 itself
        // cannot read it.
        return Ok(Verdict::Lost);
    }
    let [frame, whole, parts @ ..] = reply.parts.as_slice() else { return fail("too few parts") };
    let opened =
        if case.through_file { NdArray::open(&path) } else { NdArray::from_cframe(frame.clone()) };
    let options = Budget::default().threads(threads(case.threads));
    let block_nbytes = block_nbytes_of(array);
    let options = if draw.chance(30) { options.max_memory(block_nbytes * 5) } else { options };
    let found = opened.at("opening")?.budget(options);
    array.check_facts(&facts(&found))?;
    compare("all", whole, &found.to_bytes(..)?)?;
    for (slice, part) in slices.iter().zip(parts) {
        let what = json!(slice).to_string();
        compare(&what, part, &found.to_bytes(selection(slice)).at(&what)?)?;
    }
    let rest: Vec<&[u8]> = parts.iter().skip(slices.len()).map(Vec::as_slice).collect();
    let [at_lists, at_items] = rest[..] else { return fail("too few parts") };
    let mut bytes = vec![0; at_lists.len()];
    found.read_oindex_bytes(&oindex.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut bytes)?;
    compare("positions", at_lists, &bytes)?;
    let mut bytes = vec![0; at_items.len()];
    found.gather_bytes(&items, &mut bytes)?;
    compare("items", at_items, &bytes)?;
    Ok(Verdict::Equal)
}

/// `b2frame` writes an array in parts, python-blosc2 reads it.
pub(super) fn write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "array", 1);
    let mut array = Array::draw(&mut draw, 0)?;
    if draw.chance(5) {
        (array.dtype, array.itemsize) = (ONLY_OURS, 11);
    }
    write_one(bench, case, &array, &mut draw).at(format!("{array:?}"))
}

fn write_one(bench: &mut Bench, case: &Case, array: &Array, draw: &mut Draw) -> Result<Verdict> {
    let mut data = array.data(case);
    let params = array.params(case)?;
    let mut writer = match array.fill {
        "zeros" => {
            data.fill(0);
            NdWriter::in_memory(&params)?
        }
        "full" if !data.is_empty() => {
            let item = data[..array.itemsize].to_vec();
            data = item.repeat(data.len() / array.itemsize);
            NdWriter::in_memory(&params.fill(Fill::Value(item)))?
        }
        _ => {
            let mut writer = NdWriter::in_memory(&params)?;
            writer.write_bytes(.., &data)?;
            writer
        }
    };
    if draw.chance(50) {
        let change = array.slices(draw, true);
        let items = array.part(draw, &change)?;
        let change = json!({"change": "write", "slices": [change]});
        apply(&mut writer, &change, &items)?;
        data = model(bench, &array.shape, array.itemsize, &change, [&data, &items])?.1;
    }
    let frame = writer.finish()?.schunk().to_cframe()?;
    compare("read by us", &data, &NdArray::from_cframe(frame.clone())?.to_bytes(..)?)?;
    // python-blosc2 does not support all steps.
    let slices: Vec<Vec<Value>> = (0..3).map(|_| array.slices(draw, false)).collect();
    let through = if case.through_file { "file" } else { "memory" };
    let request = json!({"op": "array_read", "through": through, "slices": slices});
    let reply = bench.oracle.ask(request, &[&frame])?;
    array.check_facts(&reply.facts)?;
    let Some((whole, parts)) = reply.parts.split_first() else { return fail("too few parts") };
    compare("read by the oracle", &data, whole)?;
    let ours = NdArray::from_cframe(frame)?;
    for (slice, part) in slices.iter().zip(parts) {
        compare(&json!(slice).to_string(), &ours.to_bytes(selection(slice))?, part)?;
    }
    Ok(Verdict::Equal)
}

/// Both change an array in a file.
pub(super) fn edit(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "array", 2);
    let mut array = Array::draw(&mut draw, 1)?;
    let what = format!("{array:?}");
    edit_one(bench, case, &mut array, &mut draw).at(what)
}

fn edit_one(bench: &mut Bench, case: &Case, array: &mut Array, draw: &mut Draw) -> Result<Verdict> {
    let path = bench.folder.join("array.b2nd");
    remove(&path);
    let mut data = array.data(case);
    if draw.chance(50) {
        let mut writer = NdWriter::create(&path, &array.params(case)?)?;
        writer.write_bytes(.., &data)?;
        writer.finish()?;
    } else {
        let mut request = array.request("array_create", case);
        let none: Vec<Vec<u64>> = array.shape.iter().map(|_| vec![]).collect();
        let more = [("path", json!(path)), ("contiguous", true.into()), ("fill", "data".into())];
        let more = more.into_iter().chain([
            ("slices", json!([])),
            ("oindex", json!(none)),
            ("items", json!([])),
        ]);
        more.for_each(|(key, value)| request[key] = value);
        bench.oracle.ask(request, &[&data])?;
    }
    // Growing in C-Blosc2 shows items again that shrinking hid.
    let mut has_hidden = false;
    for step in 0..STEPS {
        let by_us = draw.chance(60);
        let (change, items) = array.change(draw, by_us, has_hidden)?;
        let who = if by_us { "us" } else { "the oracle" };
        let what = format!("step {step}, by {who}: {change}");
        if by_us {
            // The test is not about the disk.
            let options = EditOptions::default().durability(Durability::ProcessDeath);
            let mut writer = NdWriter::open_with(&path, &options).at(&what)?;
            apply(&mut writer, &change, &items).at(&what)?;
            writer.commit().at(&what)?;
        } else {
            let mut request = change.clone();
            request["op"] = "array_change".into();
            request["path"] = json!(path);
            bench.oracle.ask(request, &[&items]).at(&what)?;
        }
        let (shape, expected) =
            model(bench, &array.shape, array.itemsize, &change, [&data, &items])?;
        has_hidden |= shape.iter().zip(&array.shape).any(|(new, old)| new < old);
        (array.shape, data) = (shape, expected);
        let ours = NdArray::open(&path).at(&what)?;
        array.check_facts(&facts(&ours)).at(&what)?;
        compare(&format!("{what}: read by us"), &data, &ours.to_bytes(..)?)?;
        let reply = bench.oracle.ask(json!({"op": "array_view", "path": path}), &[]).at(&what)?;
        array.check_facts(&reply.facts).at(&what)?;
        compare(&format!("{what}: read by the oracle"), &data, &reply.into_first()?)?;
    }
    Ok(Verdict::Equal)
}

/// Makes a change with `b2frame`.
fn apply(writer: &mut NdWriter, change: &Value, items: &[u8]) -> Result<()> {
    let number = |key: &str| change[key].as_u64().unwrap_or(0);
    let axis = usize::try_from(number("axis"))?;
    match change["change"].as_str().unwrap_or_default() {
        "resize" => writer.resize(&numbers(&change["shape"]))?,
        "write" => {
            let picks = change["slices"][0].as_array().cloned().unwrap_or_default();
            writer.write_bytes(selection(&picks), items)?;
        }
        "oindex" => {
            let lists: Vec<Vec<u64>> =
                change["oindex"].as_array().into_iter().flatten().map(numbers).collect();
            writer
                .write_oindex_bytes(&lists.iter().map(Vec::as_slice).collect::<Vec<_>>(), items)?;
        }
        "append" => writer.append_bytes(axis, items)?,
        "insert" => writer.insert_bytes(axis, number("at"), items)?,
        "delete" => writer.delete(axis, number("at"), number("len"))?,
        other => return fail(format!("no change {other}")),
    }
    Ok(())
}

/// Makes the same change with NumPy.
fn model(
    bench: &mut Bench,
    shape: &[u64],
    itemsize: usize,
    change: &Value,
    [data, items]: [&[u8]; 2],
) -> Result<(Vec<u64>, Vec<u8>)> {
    let mut request = change.clone();
    request["op"] = "array_model".into();
    request["from"] = json!(shape);
    request["itemsize"] = itemsize.into();
    let reply = bench.oracle.ask(request, &[data, items])?;
    Ok((numbers(&reply.facts["shape"]), reply.into_first()?))
}

/// The level of a case. Level 9 of Zstandard is the library's 22, with which C-Blosc2 takes many
/// seconds for an array of small blocks.
fn level_of(case: &Case) -> u8 {
    if case.codec == CodecId::ZSTD.0 { case.level.min(8) } else { case.level }
}

impl Array {
    /// Draws an array of at least `least` dimensions; if `least` is above 0, no dimension is empty.
    fn draw(draw: &mut Draw, least: usize) -> Result<Self> {
        let dtype = draw.pick(DTYPES);
        let itemsize = Dtype::parse(dtype)?.itemsize();
        let mut room = MAX_ITEMS.min(MAX_NBYTES / itemsize);
        let (mut shape, mut chunks, mut blocks) = (vec![], vec![], vec![]);
        for _ in 0..draw.within(least..6) {
            let empty = least == 0 && draw.chance(2);
            let len = if empty { 0 } else { 1 + draw.any_size(9).min(room - 1) };
            room = (room / len.max(1)).max(1);
            let chunk = draw.within(1..len + 3);
            let block = draw.within(1..chunk + 1);
            shape.push(len as u64);
            chunks.push(u32::try_from(chunk)?);
            blocks.push(u32::try_from(block)?);
        }
        let fill = draw.pick(&["data", "data", "data", "zeros", "full"]);
        Ok(Self { shape, chunks, blocks, dtype, itemsize, fill, filter: draw.pick(&[0, 1, 2]) })
    }

    fn nbytes(&self) -> usize {
        self.shape
            .iter()
            .fold(self.itemsize, |nbytes, len| nbytes * usize::try_from(*len).unwrap_or(0))
    }

    fn data(&self, case: &Case) -> Vec<u8> {
        let mut recipe = case.recipe;
        (recipe.nbytes, recipe.typesize) = (self.nbytes(), self.itemsize);
        self.valid(recipe.bytes())
    }

    /// Bytes for new items.
    fn noise(&self, draw: &mut Draw, nbytes: usize) -> Vec<u8> {
        let (first, step) = (draw.within(0..256), draw.within(0..7));
        self.valid(
            (0..nbytes).map(|n| u8::try_from((first + n / 3 * step) % 256).unwrap_or(0)).collect(),
        )
    }

    /// Makes truth values 0 or 1, as NumPy does when it copies.
    fn valid(&self, mut items: Vec<u8>) -> Vec<u8> {
        if self.dtype == "|b1" {
            items.iter_mut().for_each(|item| *item &= 1);
        }
        items
    }

    fn request(&self, op: &str, case: &Case) -> Value {
        json!({
            "op": op, "shape": self.shape, "chunks": self.chunks, "blocks": self.blocks, "dtype": self.dtype,
            "fill": self.fill, "codec": case.codec, "clevel": level_of(case), "filter": self.filter,
        })
    }

    fn params(&self, case: &Case) -> Result<NdParams> {
        let cparams = CParams::default()
            .codec(CodecId(case.codec))
            .clevel(Level::try_from(level_of(case))?)
            .filters(Pipeline::from_slots([0, 0, 0, 0, 0, self.filter], [0; 6]));
        let params = NdParams::new(&self.shape, self.dtype.parse()?).cparams(cparams);
        Ok(params.chunkshape(&self.chunks).blockshape(&self.blocks))
    }

    /// Indexes and slices, as JSON: a number, or start, stop and step.
    fn slices(&self, draw: &mut Draw, steps: bool) -> Vec<Value> {
        let mut picks: Vec<Value> = self.shape.iter().map(|len| pick(draw, *len, steps)).collect();
        if draw.chance(20) {
            picks.truncate(draw.within(0..picks.len() + 1));
        }
        picks
    }

    /// Some positions of each dimension.
    fn lists(&self, draw: &mut Draw) -> Vec<Vec<u64>> {
        let list = |len: &u64, draw: &mut Draw| -> Vec<u64> {
            let count = if *len == 0 { 0 } else { draw.within(0..8) };
            (0..count).map(|_| below(draw, *len)).collect()
        };
        self.shape.iter().map(|len| list(len, draw)).collect()
    }

    /// Some items by their numbers.
    fn items(&self, draw: &mut Draw) -> Vec<u64> {
        let nitems: u64 = self.shape.iter().product();
        let count = if nitems == 0 { 0 } else { draw.within(0..50) };
        (0..count).map(|_| below(draw, nitems)).collect()
    }

    /// The bytes of the selected items.
    fn part(&self, draw: &mut Draw, picks: &[Value]) -> Result<Vec<u8>> {
        let nitems: u64 = selection(picks).shape(&self.shape)?.iter().product();
        Ok(self.noise(draw, usize::try_from(nitems)? * self.itemsize))
    }

    /// A change and its items.
    fn change(&self, draw: &mut Draw, by_us: bool, has_hidden: bool) -> Result<(Value, Vec<u8>)> {
        let axis = draw.within(0..self.shape.len());
        let (len, chunk) = (self.shape[axis], u64::from(self.chunks[axis]));
        let layer = self.nbytes() / usize::try_from(len.max(1))?;
        let more = |draw: &mut Draw, len: u64| -> Result<Vec<u8>> {
            Ok(self.noise(draw, layer * usize::try_from(len)?))
        };
        match draw.within(0..if by_us { 12 } else { 6 }) {
            0 | 1 => {
                let other = |len: u64, draw: &mut Draw| {
                    let low = len.saturating_sub(5).max(1);
                    // Only `b2frame` clears items that become visible again.
                    low + below(draw, if by_us || !has_hidden { 10 } else { len - low + 1 })
                };
                let shape: Vec<u64> = self.shape.iter().map(|len| other(*len, draw)).collect();
                let is_large = shape.iter().product::<u64>() > 2 * MAX_ITEMS as u64;
                let shape = if is_large { vec![1; shape.len()] } else { shape };
                // Items that C-Blosc2 hides in one dimension reappear when another one grows.
                let shape = if by_us { shape } else { self.one_way(shape) };
                Ok((json!({"change": "resize", "shape": shape}), vec![]))
            }
            2 | 3 => {
                let mut slices = self.slices(draw, by_us);
                // NumPy drops the gaps between the fields of a single item.
                if !by_us && slices.len() == self.shape.len() && slices.iter().all(Value::is_i64) {
                    slices.pop();
                }
                let items = self.part(draw, &slices)?;
                Ok((json!({"change": "write", "slices": [slices]}), items))
            }
            4..=6 => {
                let count = 1 + below(draw, 6);
                let items = more(draw, count)?;
                Ok((json!({"change": "append", "axis": axis, "at": len, "len": count}), items))
            }
            7 => {
                let lists = self.lists(draw);
                let nitems: usize = lists.iter().map(Vec::len).product();
                Ok((
                    json!({"change": "oindex", "oindex": lists}),
                    self.noise(draw, nitems * self.itemsize),
                ))
            }
            8 | 9 => {
                let (at, count) = (below(draw, len / chunk + 1) * chunk, below(draw, 3) * chunk);
                let count = if self.nbytes() > 1 << 20 { 0 } else { count };
                let items = more(draw, count)?;
                Ok((json!({"change": "insert", "axis": axis, "at": at, "len": count}), items))
            }
            _ => {
                let at = below(draw, len / chunk + 1) * chunk;
                let layers = len.saturating_sub(at) / chunk;
                // At least one item is left.
                let count = (below(draw, layers + 1) * chunk).min(len - 1) / chunk * chunk;
                Ok((json!({"change": "delete", "axis": axis, "at": at, "len": count}), vec![]))
            }
        }
    }

    /// A shape that is in all dimensions at least as large, or in all at most as large.
    fn one_way(&self, shape: Vec<u64>) -> Vec<u64> {
        let shrinks = shape.iter().zip(&self.shape).any(|(new, old)| new < old);
        let low = |(new, old): (u64, &u64)| if shrinks { new.min(*old) } else { new };
        shape.into_iter().zip(&self.shape).map(low).collect()
    }

    /// Checks a program's description of the array.
    fn check_facts(&self, facts: &Value) -> Result<()> {
        for (key, expected) in [
            ("shape", json!(self.shape)),
            ("chunks", json!(self.chunks)),
            ("blocks", json!(self.blocks)),
            ("itemsize", json!(self.itemsize)),
        ] {
            if facts[key] != expected {
                return fail(format!("{key}: {expected} expected, found {}", facts[key]));
            }
        }
        let found: Dtype = facts["dtype"].as_str().unwrap_or_default().parse()?;
        if is_same(&self.dtype.parse()?, &found) { Ok(()) } else { fail(format!("dtype: {found}")) }
    }
}

/// Whether items have the same type. python-blosc2 turns gaps between fields, and raw bytes, into
/// fields.
fn is_same(expected: &Dtype, found: &Dtype) -> bool {
    let has = |field: &Field| {
        let is_it =
            |other: &&Field| (other.name(), other.offset()) == (field.name(), field.offset());
        found.fields().iter().find(is_it).is_some_and(|other| is_same(field.dtype(), other.dtype()))
    };
    let is_raw = expected.kind() == Some(Kind::Void) && expected.itemsize() == found.itemsize();
    expected == found
        || is_raw
        || !expected.fields().is_empty() && expected.fields().iter().all(has)
}

/// Bytes of a block.
fn block_nbytes_of(array: &Array) -> u64 {
    array.blocks.iter().fold(array.itemsize as u64, |nbytes, len| nbytes * u64::from(*len))
}

fn facts(array: &NdArray) -> Value {
    json!({
        "shape": array.shape(), "chunks": array.chunkshape(), "blocks": array.blockshape(),
        "itemsize": array.typesize(), "dtype": array.dtype().to_string(),
    })
}

/// An index, or a slice with ends and steps of any sign, for a dimension of `len` items.
fn pick(draw: &mut Draw, len: u64, steps: bool) -> Value {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let any = |draw: &mut Draw| {
        i64::try_from(below(draw, 2 * len.unsigned_abs() + 5)).unwrap_or(0) - len - 2
    };
    if len > 0 && draw.chance(25) {
        let at = i64::try_from(below(draw, len.unsigned_abs())).unwrap_or(0);
        return (if draw.chance(50) { at } else { at - len }).into();
    }
    if !steps {
        let (a, b) = (below(draw, len.unsigned_abs() + 1), below(draw, len.unsigned_abs() + 1));
        return json!([a.min(b), a.max(b), 1]);
    }
    let end = |draw: &mut Draw| if draw.chance(30) { Value::Null } else { any(draw).into() };
    let (start, stop) = (end(draw), end(draw));
    json!([start, stop, draw.pick(&[1, 1, 2, 3, 7, -1, -2, -5])])
}

fn selection(picks: &[Value]) -> Selection {
    let pick = |pick: &Value| match pick.as_i64() {
        Some(index) => Pick::Index(index),
        None => Pick::slice(pick[0].as_i64(), pick[1].as_i64(), pick[2].as_i64().unwrap_or(1)),
    };
    Selection::from(picks.iter().map(pick).collect::<Vec<_>>())
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

fn below(draw: &mut Draw, end: u64) -> u64 {
    draw.within(0..usize::try_from(end).unwrap_or(usize::MAX)) as u64
}

/// Removes any file or directory at a path.
fn remove(path: &PathBuf) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_dir_all(path);
}
