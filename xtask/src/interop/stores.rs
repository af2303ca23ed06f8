//! Stores and tables: python-blosc2 draws and writes them, both read them. Also stores that
//! `b2store` writes, which python-blosc2 reads and changes.

mod written;

use std::path::PathBuf;

use b2frame::nd::Selection;
use b2store::{Content, Store, Value, ValueLimits};
use serde_json::json;

use super::{
    Bench, Case, Verdict,
    case::{Draw, slice},
    compare,
    oracle::Reply,
};
use crate::failure::{Context, Result, fail};

pub(super) use written::{write, write_table};

/// Keys, values of every kind, groups and their attributes.
pub(super) fn read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "store", 0);
    let form = draw.pick(&["b2z", "b2d", "b2e"]);
    let root = bench.folder.join(format!("store.{form}"));
    let request = json!({
        "op": "store_make", "root": root.to_string_lossy(), "seed": case.recipe.seed,
        "form": form, "tree": draw.chance(60),
    });
    let Some(made) = bench.oracle.try_ask(request, &[])? else { return Ok(Verdict::Refused) };
    let store = Store::open(&root)?;
    let keys = list(&made, "keys")?;
    let mut parts = made.parts.iter();
    for fact in keys {
        let (Some(key), Some(part)) = (fact["key"].as_str(), parts.next()) else {
            return fail(format!("no key in {fact}"));
        };
        check_content(&store.get(key).at(key)?, fact, part).at(key)?;
    }
    let names: Vec<&str> = keys.iter().filter_map(|fact| fact["key"].as_str()).collect();
    let found: Vec<&str> = store.keys().filter(|key| !key.ends_with("/__vlmeta__")).collect();
    if found != names {
        return fail(format!("they have the keys {names:?}, we {found:?}"));
    }
    for (group, part) in list(&made, "groups")?.iter().zip(parts) {
        let Some(group) = group.as_str() else { return fail("a group without a name") };
        check_attributes(&store.attributes(group)?, part).at(group)?;
    }
    Ok(Verdict::Equal)
}

/// Tables of columns of every kind, with nulls and deleted rows.
pub(super) fn read_table(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "table", 0);
    let root: PathBuf = bench.folder.join(draw.pick(&["table.b2z", "table.b2d"]));
    let request = json!({
        "op": "table_make", "root": root.to_string_lossy(), "seed": case.recipe.seed,
    });
    let Some(made) = bench.oracle.try_ask(request, &[])? else { return Ok(Verdict::Refused) };
    let table = Store::open(&root)?.table("/")?;
    let rows = table.len()?;
    if made.facts["rows"] != rows {
        return fail(format!("they have {} rows, we {rows}", made.facts["rows"]));
    }
    let mut parts = made.parts.iter();
    for (name, kind) in list(&made, "names")?.iter().zip(list(&made, "kinds")?) {
        let (Some(name), Some(part)) = (name.as_str(), parts.next()) else {
            return fail("a column without a name");
        };
        let column = table.column(name).at(name)?;
        let cells = |rows: core::ops::Range<u64>| -> Result<Vec<Value>> {
            let found = column.read(rows).at(name)?;
            Ok((0..found.len()).map(|row| found.value(row)).collect())
        };
        let found = cells(0..rows)?;
        let expected = decode(part)?;
        if !is_same(&Value::Array(found.clone()), &expected) {
            return fail(format!("column {name} of {kind}: they {expected:?}, we {found:?}"));
        }
        for rows in (0..3).filter_map(|_| slice(&mut draw, found.len())) {
            let part = cells(rows.start as u64..rows.end as u64)?;
            if !is_same(&Value::Array(part), &Value::Array(found[rows.clone()].to_vec())) {
                return fail(format!(
                    "rows {rows:?} of column {name} are others than in the whole"
                ));
            }
        }
    }
    let Some(part) = parts.next() else { return fail("no attributes") };
    check_attributes(&table.attributes()?, part)?;
    Ok(Verdict::Equal)
}

/// Rows of a table with nulls that meet conditions.
pub(super) fn filter_table(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "where", 0);
    let root: PathBuf = bench.folder.join(draw.pick(&["where.b2z", "where.b2d"]));
    let request = json!({
        "op": "table_where", "root": root.to_string_lossy(), "seed": case.recipe.seed,
    });
    let Some(made) = bench.oracle.try_ask(request, &[])? else { return Ok(Verdict::Refused) };
    check_found(&Store::open(&root)?.table("/")?, &made)?;
    Ok(Verdict::Equal)
}

/// As [`filter_table`] for a table with indexes, in a directory and in an archive. `b2store` uses
/// the indexes that python-blosc2 does not call stale.
pub(super) fn filter_indexed(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let root: PathBuf = bench.folder.join("indexed.b2d");
    let request = json!({
        "op": "table_indexed", "root": root.to_string_lossy(), "seed": case.recipe.seed,
    });
    let Some(made) = bench.oracle.try_ask(request, &[])? else { return Ok(Verdict::Refused) };
    let packed = bench.folder.join("indexed.b2z");
    if packed.exists() {
        std::fs::remove_file(&packed)?;
    }
    for store in [Store::open(&root)?, b2store::pack(&root, &packed)?] {
        let table = store.table("/")?;
        for index in table.indexes() {
            let (name, is_used) = (index.column.as_str(), index.unused.is_none());
            let mut stale = list(&made, "stale")?.iter();
            // `b2store` uses no index of a column whose items are arrays.
            let is_of_arrays = matches!(index.unused, Some(b2store::table::Unused::OtherArray));
            if !stale.any(|entry| entry[0] == name && (is_of_arrays || entry[1] == !is_used)) {
                return fail(format!("indexes: they say {}, we {index:?}", made.facts["stale"]));
            }
        }
        check_found(&table, &made)?;
    }
    Ok(Verdict::Equal)
}

/// Compares the rows that meet conditions.
fn check_found(table: &b2store::Table, made: &Reply) -> Result<()> {
    let (rows, ids) = (table.len()?, table.column("id")?);
    for (text, expected) in list(made, "conditions")?.iter().zip(list(made, "found")?) {
        let text = text.as_str().unwrap_or_default();
        let filter = table.filter(text).at(text)?;
        // Searches in parts, like a program that prints the rows.
        let middle = rows / 2;
        let mut matches = filter.matches(0..middle).at(text)?;
        matches.extend(filter.matches(middle..rows).at(text)?);
        let read = ids.read(0..rows)?;
        let at = |row: &u64| usize::try_from(*row).map(|row| read.value(row));
        let found = matches.iter().map(at).collect::<core::result::Result<Vec<_>, _>>()?;
        let expected = expected.as_array().into_iter().flatten().filter_map(|id| id.as_i64());
        let expected = Value::Array(expected.map(Value::Int).collect());
        if !is_same(&Value::Array(found.clone()), &expected) {
            return fail(format!("{text}: they find {expected:?}, we {found:?}"));
        }
    }
    Ok(())
}

fn list<'a>(made: &'a Reply, name: &str) -> Result<&'a [serde_json::Value]> {
    match made.facts[name].as_array() {
        Some(list) => Ok(list),
        None => fail(format!("no {name} in {}", made.facts)),
    }
}

fn decode(bytes: &[u8]) -> Result<Value> {
    Ok(Value::decode(bytes, &ValueLimits::default())?)
}

fn check_content(content: &Content, fact: &serde_json::Value, part: &[u8]) -> Result<()> {
    let (kind, values) = match content {
        Content::Array(array) => {
            let text = array.dtype().to_string();
            let (shape, dtype) = (json!(array.shape()), text.trim_matches('\''));
            if fact["shape"] != shape || fact["dtype"] != dtype {
                return fail(format!("they have {fact}, we {shape} of {dtype}"));
            }
            compare("array", part, &array.to_bytes(Selection::ALL)?)?;
            ("array", None)
        }
        Content::Frame(frame) => {
            let mut bytes = vec![0; usize::try_from(frame.nbytes())?];
            frame.read_bytes(0, &mut bytes)?;
            compare("frame", part, &bytes)?;
            ("frame", None)
        }
        Content::Objects(objects) => {
            let values = (0..objects.len()).map(|n| Ok(objects.get(n)?)).collect::<Result<_>>()?;
            ("objects", Some(Value::Array(values)))
        }
        Content::Batches(batches) => {
            let batch = |n| Ok(Value::Array(batches.batch(n)?));
            let values: Vec<Value> = (0..batches.nbatches()).map(batch).collect::<Result<_>>()?;
            let flat = Value::Array(batches.items(0..batches.len()?)?);
            let joined = values.iter().filter_map(Value::as_array).flatten().cloned().collect();
            if !is_same(&flat, &Value::Array(joined)) {
                return fail("items are others by their number than by their batch");
            }
            ("batches", Some(Value::Array(values)))
        }
        Content::Lists(lists) => ("lists", Some(Value::Array(lists.rows(0..lists.len()?)?))),
        other => return fail(format!("{other:?}")),
    };
    if fact["kind"] != kind {
        return fail(format!("they have {}, we {kind}", fact["kind"]));
    }
    match values {
        Some(values) if !is_same(&values, &decode(part)?) => {
            fail(format!("they {:?}, we {values:?}", decode(part)?))
        }
        _ => Ok(()),
    }
}

fn check_attributes(found: &[(String, Value)], part: &[u8]) -> Result<()> {
    let entry = |(name, value): &(String, Value)| (Value::Str(name.clone()), value.clone());
    let found = Value::Map(found.iter().map(entry).collect());
    let expected = decode(part)?;
    if is_same(&found, &expected) {
        return Ok(());
    }
    fail(format!("attributes: they {expected:?}, we {found:?}"))
}

/// Whether values are equal. The order of sets is undefined, and a list that starts with the mark
/// of tuples looks like a tuple.
fn is_same(a: &Value, b: &Value) -> bool {
    let all = |a: &[Value], b: &[Value]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
    };
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
        (Value::Array(a), Value::Array(b)) | (Value::Tuple(a), Value::Tuple(b)) => all(a, b),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| is_same(&a.0, &b.0) && is_same(&a.1, &b.1))
        }
        (Value::Set(a), Value::Set(b)) => a.len() == b.len() && a.iter().all(|a| b.contains(a)),
        (Value::NdArray(a), Value::NdArray(b)) => a.shape == b.shape && a.data == b.data,
        (a, b) => a == b,
    }
}
