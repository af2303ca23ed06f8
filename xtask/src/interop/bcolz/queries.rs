//! Queries, compared with `fetchwhere` of bcolz.

use bcolz_store::{CTable, CTableWriter, CreateOptions, Dtype, Durability};
use serde_json::json;

use super::super::{Bench, Case, Verdict, case::Draw, compare};
use super::fresh;
use crate::failure::{Context, Result, fail};

pub(in crate::interop) const COLUMNS: [(&str, &str); 4] =
    [("i", "int32"), ("k", "int64"), ("f", "float64"), ("s", "|S2")];

const FUNCTIONS: [&str; 25] = [
    "abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "cos", "cosh",
    "exp", "expm1", "floor", "log", "log10", "log1p", "log2", "round", "sign", "sin", "sinh",
    "sqrt", "tan", "tanh", "trunc",
];

const FUNCTIONS_OF_TWO: [&str; 7] =
    ["arctan2", "copysign", "fmod", "hypot", "maximum", "minimum", "nextafter"];

/// Applies random conditions to a table of `bcolz-store`; both find the same rows.
pub(in super::super) fn query(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "bcolz-query", 0);
    let root = fresh(bench)?;
    make(&root, &mut draw)?;
    let table = CTable::open(&root)?;
    for _ in 0..5 {
        let expr = condition(&mut draw, 3);
        let names: Vec<&str> =
            COLUMNS.iter().map(|(name, _)| *name).filter(|_| draw.chance(60)).collect();
        let names = if names.is_empty() { vec!["k"] } else { names };
        let request = json!({
            "op": "bcolz_query", "root": root.to_string_lossy(), "expr": expr, "names": names,
        });
        let theirs = bench.oracle.ask(request, &[]).at(&expr)?;
        let ours = find(&table, &expr, &names).at(&expr)?;
        if theirs.facts["len"] != ours.0 {
            return fail(format!("{expr}: they find {} rows, we {}", theirs.facts["len"], ours.0));
        }
        for ((name, theirs), ours) in names.iter().zip(&theirs.parts).zip(&ours.1) {
            compare("the rows", theirs, ours).at(name).at(&expr)?;
        }
    }
    Ok(Verdict::Equal)
}

pub(in crate::interop) fn make(root: &std::path::Path, draw: &mut Draw) -> Result<()> {
    // bcolz fails on a table without rows.
    let len = 1 + draw.any_size(12);
    let mut options = Vec::new();
    for (name, dtype) in COLUMNS {
        let chunklen = Some(1 + draw.any_size(10) as u64);
        let new = CreateOptions::new(Dtype::parse(dtype)?)
            .chunklen(chunklen)
            .durability(Durability::ProcessDeath);
        options.push((name, new));
    }
    let small = |draw: &mut Draw| i32::try_from(draw.within(0..100)).unwrap_or(0) - 50;
    let [mut i, mut k, mut f, mut s] = [const { Vec::new() }; 4];
    for _ in 0..len {
        i.extend(small(draw).to_le_bytes());
        k.extend(i64::from(small(draw)).to_le_bytes());
        f.extend((f64::from(small(draw)) / 4.0).to_le_bytes());
        s.extend([b"abc"[draw.within(0..3)], b"\0x"[draw.within(0..2)]]);
    }
    let mut writer = CTableWriter::create(root, &options)?;
    writer.append(&[&i, &k, &f, &s])?;
    Ok(writer.finish()?)
}

/// A condition in the language that both know.
pub(in crate::interop) fn condition(draw: &mut Draw, depth: usize) -> String {
    if depth > 0 && draw.chance(60) {
        let (left, right) = (condition(draw, depth - 1), condition(draw, depth - 1));
        return match draw.within(0..3) {
            0 => format!("({left}) & ({right})"),
            1 => format!("({left}) | ({right})"),
            _ => format!("~({left})"),
        };
    }
    let op = draw.pick(&["<", "<=", ">", ">=", "==", "!="]);
    if draw.chance(5) {
        return format!("contains(s, b'{}')", draw.pick(&["a", "x", "bx", ""]));
    }
    if draw.chance(15) {
        // numexpr compares byte strings only with literals of bytes.
        return format!("s {op} b'{}'", draw.pick(&["a", "b", "bx", "c"]));
    }
    // bcolz refuses a condition without columns.
    let column = draw.pick(&["i", "k", "f"]);
    if draw.chance(10) {
        let function = draw.pick(&["isnan", "isinf", "isfinite", "signbit"]);
        return format!("{function}(({column} + {}) / 3)", number(draw, 1));
    }
    format!("({column} + {}) {op} {}", number(draw, 1), number(draw, 1))
}

fn number(draw: &mut Draw, depth: usize) -> String {
    if depth > 0 && draw.chance(50) {
        if draw.chance(10) {
            // numexpr shifts only integers, and 32-bit ones only by less than their width.
            return format!("(k {} {})", draw.pick(&["<<", ">>"]), draw.within(0..40));
        }
        let op = draw.pick(&["+", "-", "*"]);
        return format!("({} {op} {})", number(draw, depth - 1), number(draw, depth - 1));
    }
    if depth > 0 && draw.chance(30) {
        let value = number(draw, depth - 1);
        return match draw.within(0..4) {
            0 => format!("{}({value}, {})", draw.pick(&FUNCTIONS_OF_TWO), number(draw, depth - 1)),
            1 => format!("where(i > {}, {value}, k)", draw.within(0..50)),
            _ => format!("{}({value})", draw.pick(&FUNCTIONS)),
        };
    }
    match draw.within(0..5) {
        0 => "i".to_owned(),
        1 => "k".to_owned(),
        2 => "f".to_owned(),
        3 => draw.within(0..50).to_string(),
        _ => format!("{}.25", draw.within(0..20)),
    }
}

/// The number of rows, and their items in the columns.
fn find(table: &CTable, expr: &str, names: &[&str]) -> Result<(usize, Vec<Vec<u8>>)> {
    let mut found = (0, vec![Vec::new(); names.len()]);
    for batch in table.scan().filter(expr)?.columns(names)?.batches() {
        let batch = batch?;
        found.0 += batch.rows.len();
        found.1.iter_mut().zip(batch.columns).for_each(|(all, column)| all.extend(column.items));
    }
    Ok(found)
}
