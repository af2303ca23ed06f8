//! Stores and tables that `b2store` writes: python-blosc2 reads and changes them, and `b2store`
//! reads them again.

use std::path::{Path, PathBuf};

use b2frame::nd::Selection;
use b2frame::{FrameParams, NdParams, NdWriter, to_cframe};
use b2store::{
    ColumnKind, ColumnValues, NewColumn, Nulls, Store, StoreWriter, Value, Values, WriteOptions,
};
use blosc_dtype::json::Json;
use serde_json::json;

use super::super::{Bench, Case, Verdict, case::Draw, oracle::Reply};
use super::{check_attributes, check_content, decode, is_same, list};
use crate::failure::{Context, Result, fail};
use crate::workspace;

const NAMES: &[&str] = &["a", "b", "c", "ä", "x y", "n.b", "long name", "Z"];
const DTYPES: &[&str] = &["|i1", "<i2", "<i4", "<i8", "|u1", "<u8", "<f4", "<f8"];

/// Keys, values, groups and attributes; then all of it after a change by python-blosc2.
pub(in super::super) fn write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "store-write", 0);
    let form = draw.pick(&["b2z", "b2d", "b2e"]);
    let is_flat = draw.chance(30);
    let root = bench.folder.join(format!("written.{form}"));
    workspace::remove(&root)?;
    let options = WriteOptions::default().flat(is_flat);
    let mut writer = StoreWriter::create_with(&root, &options)?;
    for _ in 0..draw.within(0..7) {
        insert(&mut writer, &mut draw)?;
    }
    let has_groups = form != "b2e" && !is_flat;
    let mut groups = Vec::new();
    if has_groups {
        groups.push("/".to_owned());
        for key in writer.keys().map(str::to_owned).collect::<Vec<_>>() {
            match key.rfind('/') {
                Some(end @ 1..) if draw.chance(50) => groups.push(key[..end].to_owned()),
                _ => {}
            }
        }
        groups.sort();
        groups.dedup();
        for group in &groups {
            let value = value(&mut draw);
            writer.set_attribute(group, "drawn", &value)?;
        }
    }
    writer.commit()?;
    if draw.chance(50) {
        let mut writer = StoreWriter::open(&root)?;
        insert(&mut writer, &mut draw)?;
        let keys: Vec<String> = values_of(writer.keys());
        if keys.len() > 1 && groups.len() < 2 {
            writer.remove(&keys[draw.within(0..keys.len())])?;
        }
        writer.commit()?;
    }
    let mut facts = json!({
        "op": "store_read", "root": root.to_string_lossy(), "form": form, "flat": is_flat,
        "groups": groups,
    });
    let read = bench.oracle.ask(facts.clone(), &[])?;
    check(&root, &read)?;
    let keys = values_of(Store::open(&root)?.keys());
    let mut chosen = || -> Vec<String> {
        let may_go = |key: &&String| groups.len() < 2 && !key.is_empty();
        keys.iter().filter(may_go).filter(|_| draw.chance(20)).cloned().collect()
    };
    let (removed, replaced) = (chosen(), chosen());
    let removed: Vec<String> = removed.into_iter().filter(|key| !replaced.contains(key)).collect();
    facts["op"] = json!("store_change");
    facts["seed"] = json!(case.recipe.seed);
    facts["removed"] = json!(removed);
    facts["replaced"] = json!(replaced);
    let changed = bench.oracle.ask(facts, &[])?;
    check(&root, &changed).at("after a change by python-blosc2")?;
    Ok(Verdict::Equal)
}

/// Compares python-blosc2's content of a store with `b2store`'s.
fn check(root: &Path, reply: &Reply) -> Result<()> {
    let store = Store::open(root)?;
    let keys = list(reply, "keys")?;
    let mut parts = reply.parts.iter();
    for fact in keys {
        let (Some(key), Some(part)) = (fact["key"].as_str(), parts.next()) else {
            return fail(format!("no key in {fact}"));
        };
        check_content(&store.get(key).at(key)?, fact, part).at(key)?;
    }
    let names: Vec<&str> = keys.iter().filter_map(|fact| fact["key"].as_str()).collect();
    let found = values_of(store.keys());
    if found != names {
        return fail(format!("they have the keys {names:?}, we {found:?}"));
    }
    for (group, part) in list(reply, "groups")?.iter().zip(parts) {
        let group = group.as_str().unwrap_or_default();
        check_attributes(&store.attributes(group)?, part).at(group)?;
    }
    Ok(())
}

fn values_of<'a>(keys: impl Iterator<Item = &'a str>) -> Vec<String> {
    keys.filter(|key| !key.ends_with("/__vlmeta__")).map(str::to_owned).collect()
}

/// Inserts a value for a key, perhaps in place of another value.
fn insert(writer: &mut StoreWriter, draw: &mut Draw) -> Result<()> {
    let depth = draw.within(1..4);
    let key: String = (0..depth).map(|_| format!("/{}", draw.pick(NAMES))).collect();
    let bytes: Vec<u8> = (0..=250).cycle().take(draw.any_size(12)).collect();
    let inserted = if draw.chance(60) {
        let dtype: b2frame::Dtype = draw.pick(DTYPES).parse()?;
        let shape: Vec<u64> = (0..draw.within(0..4)).map(|_| draw.within(0..9) as u64).collect();
        let nitems = shape.iter().product::<u64>();
        let nbytes = usize::try_from(nitems)? * dtype.itemsize();
        let mut writer_of_items = NdWriter::in_memory(&NdParams::new(&shape, dtype))?;
        let items: Vec<u8> = bytes.iter().copied().cycle().take(nbytes).collect();
        if items.len() == nbytes && nbytes > 0 {
            writer_of_items.write_bytes(Selection::ALL, &items)?;
        }
        writer.insert_array(&key, &writer_of_items.finish()?)
    } else {
        let chunksize = draw.within(1..1000);
        writer.insert_cframe(&key, to_cframe(&bytes, &FrameParams::default().chunksize(chunksize))?)
    };
    match inserted {
        Err(b2store::Error::Param(_)) => Ok(()),
        inserted => Ok(inserted?),
    }
}

/// A possible value of an attribute.
fn value(draw: &mut Draw) -> Value {
    match draw.within(0..7) {
        0 => Value::Nil,
        1 => Value::Bool(draw.chance(50)),
        2 => Value::Int(draw.any_size(40) as i64 - 7),
        3 => Value::Float(draw.any_size(20) as f64 / 8.0),
        4 => Value::Str(draw.pick(NAMES).to_owned()),
        5 => Value::Tuple((0..draw.within(0..3)).map(|_| value(draw)).collect()),
        _ => Value::Array((0..draw.within(0..3)).map(|_| value(draw)).collect()),
    }
}

/// Tables of columns of every kind, with nulls and deleted rows.
pub(in super::super) fn write_table(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "table-write", 0);
    let root: PathBuf = bench.folder.join(draw.pick(&["written-table.b2z", "written-table.b2d"]));
    workspace::remove(&root)?;
    let kinds: Vec<Drawn> = (0..draw.within(1..7)).map(|_| Drawn::draw(&mut draw)).collect();
    let columns: Vec<NewColumn> =
        kinds.iter().enumerate().map(|(n, kind)| kind.column(&format!("c{n}"))).collect();
    let mut expected: Vec<Vec<Value>> = vec![Vec::new(); columns.len()];
    let rows = |draw: &mut Draw, count: usize, expected: &mut [Vec<Value>]| {
        let values: Vec<ColumnValues> = kinds.iter().map(|kind| kind.values(draw, count)).collect();
        for (cells, values) in expected.iter_mut().zip(&values) {
            cells.extend((0..count).map(|row| values.value(row)));
        }
        values
    };
    let mut writer = StoreWriter::create(&root)?;
    let count = draw.pick(&[0, 1, 3, 20, 60, 2500]);
    let first = rows(&mut draw, count, &mut expected);
    writer.insert_table("/", &columns, &first)?;
    if draw.chance(50) {
        writer.commit()?;
        writer = StoreWriter::open(&root)?;
    }
    for _ in 0..draw.within(0..3) {
        if draw.chance(50) {
            let count = draw.within(0..9);
            writer.append_rows("/", &rows(&mut draw, count, &mut expected))?;
        } else {
            let len = expected[0].len();
            let start = draw.within(0..len + 1);
            let end = draw.within(start..len + 1);
            writer.delete_rows("/", start as u64..end as u64)?;
            expected.iter_mut().for_each(|cells| drop(cells.drain(start..end)));
        }
    }
    writer.commit()?;
    check_table(&root, &expected).at("as we read it")?;
    let mut facts = json!({
        "op": "table_read", "root": root.to_string_lossy(), "seed": case.recipe.seed,
    });
    let read = bench.oracle.ask(facts.clone(), &[])?;
    let theirs = cells_of(&read)?;
    for (number, (theirs, ours)) in theirs.iter().zip(&expected).enumerate() {
        if !is_same(&Value::Array(theirs.clone()), &Value::Array(ours.clone())) {
            let kind = &kinds[number];
            return fail(format!("column {number}, {kind:?}: they {theirs:?}, we {ours:?}"));
        }
    }
    facts["op"] = json!("table_change");
    let changed = bench.oracle.ask(facts, &[])?;
    check_table(&root, &cells_of(&changed)?).at("after a change by python-blosc2")?;
    Ok(Verdict::Equal)
}

fn cells_of(reply: &Reply) -> Result<Vec<Vec<Value>>> {
    let cells = |part: &Vec<u8>| match decode(part)? {
        Value::Array(cells) | Value::Tuple(cells) => Ok(cells),
        other => fail(format!("{other:?} instead of cells")),
    };
    reply.parts.iter().map(cells).collect()
}

fn check_table(root: &Path, expected: &[Vec<Value>]) -> Result<()> {
    let table = Store::open(root)?.table("/")?;
    let len = table.len()?;
    for (spec, expected) in table.schema().columns.iter().zip(expected) {
        let found = table.column(&spec.name)?.read(0..len).at(&spec.name)?;
        let found: Vec<Value> = (0..found.len()).map(|row| found.value(row)).collect();
        if !is_same(&Value::Array(found.clone()), &Value::Array(expected.to_vec())) {
            return fail(format!("column {}: {found:?}, not {expected:?}", spec.name));
        }
    }
    Ok(())
}

/// A kind of columns.
#[derive(Clone, Debug)]
struct Drawn {
    kind: ColumnKind,
    nulls: Nulls,
}

impl Drawn {
    fn draw(draw: &mut Draw) -> Self {
        let mask = if draw.chance(40) { Nulls::Mask } else { Nulls::None };
        let native = if draw.chance(50) { Nulls::Native } else { Nulls::None };
        let fixed = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c16", "b1"];
        let text = |text: &str| text.to_owned();
        let (kind, nulls) = match draw.within(0..14) {
            0..=2 => (ColumnKind::Fixed(draw.pick(&fixed)), mask),
            3 => {
                let null = Nulls::Sentinel(Json::Int(-128));
                (ColumnKind::Fixed("i1"), null)
            }
            4 => (ColumnKind::Fixed("f8"), Nulls::Sentinel(Json::Float(f64::NAN))),
            5 => (ColumnKind::String, mask),
            6 => (ColumnKind::Bytes, Nulls::None),
            7 => (ColumnKind::Timestamp { unit: text("us"), timezone: None }, mask),
            8 => (ColumnKind::Utf8, mask),
            9 => (ColumnKind::VlString, native),
            10 => (ColumnKind::VlBytes, native),
            11 => (ColumnKind::List, native),
            12 => (ColumnKind::Dictionary { null_code: -1 }, Nulls::Native),
            _ => (ColumnKind::NdArray { item_shape: vec![3] }, Nulls::None),
        };
        Self { kind, nulls }
    }

    fn column(&self, name: &str) -> NewColumn {
        let column = NewColumn::new(name, self.kind.clone()).nulls(self.nulls.clone());
        let kind = ("kind".to_owned(), Json::String("int64".to_owned()));
        match self.kind {
            ColumnKind::List => column.option("item", Json::Object(vec![kind])),
            _ => column,
        }
    }

    fn values(&self, draw: &mut Draw, count: usize) -> ColumnValues {
        let valid: Vec<bool> =
            (0..count).map(|_| self.nulls == Nulls::None || draw.chance(70)).collect();
        let fixed = |dtype: &str, item_shape: Vec<u64>, bytes: Vec<u8>| -> Option<ColumnValues> {
            let dtype = dtype.parse().ok()?;
            Some(ColumnValues::new(Values::Fixed { dtype, item_shape, bytes }))
        };
        let number = |draw: &mut Draw| u8::try_from(draw.within(0..100)).unwrap_or(0);
        let values = match &self.kind {
            ColumnKind::Fixed("b1") => {
                fixed("|b1", vec![], (0..count).map(|_| u8::from(draw.chance(50))).collect())
            }
            ColumnKind::Fixed(name) => {
                let size: usize = name[1..].parse().unwrap_or(1);
                let item = |draw: &mut Draw| match *name {
                    "f4" => f32::from(number(draw)).to_le_bytes().to_vec(),
                    "f8" => f64::from(number(draw)).to_le_bytes().to_vec(),
                    "c16" => f64::from(number(draw)).to_le_bytes().repeat(2),
                    _ => (u64::from(number(draw)).to_le_bytes()[..size]).to_vec(),
                };
                fixed(&format!("<{name}"), vec![], (0..count).flat_map(|_| item(draw)).collect())
            }
            ColumnKind::Timestamp { .. } => {
                let item = |draw: &mut Draw| (draw.any_size(40) as i64).to_le_bytes();
                fixed("<i8", vec![], (0..count).flat_map(|_| item(draw)).collect())
            }
            ColumnKind::String => {
                let item = |draw: &mut Draw| [u32::from(b'a' + number(draw) % 9), 0xe4];
                let chars = (0..count).flat_map(|_| item(draw)).flat_map(u32::to_le_bytes);
                fixed("<U2", vec![], chars.collect())
            }
            ColumnKind::Bytes => {
                fixed("|S1", vec![], (0..count).map(|_| b'a' + number(draw) % 20).collect())
            }
            ColumnKind::NdArray { .. } => {
                let items = (0..count * 3).flat_map(|_| f32::from(number(draw)).to_le_bytes());
                fixed("<f4", vec![3], items.collect())
            }
            _ => None,
        };
        if let Some(values) = values {
            return if self.nulls == Nulls::None { values } else { values.with_valid(valid) };
        }
        let cells = valid.into_iter().map(|is_valid| match (&self.kind, is_valid) {
            (_, false) => Value::Nil,
            (ColumnKind::VlBytes, _) => Value::Bytes(vec![number(draw); draw.within(0..9)]),
            (ColumnKind::List, _) => {
                let item = |_| Value::Int(number(draw).into());
                Value::Array((0..2).map(item).collect())
            }
            _ => Value::Str(draw.pick(&["", "word", "ä€", "another word"]).to_owned()),
        });
        ColumnValues::objects(cells)
    }
}
