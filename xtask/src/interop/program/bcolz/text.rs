//! Values as text, and in Parquet files: tables of suitable types, and the rows that a condition
//! finds.

use serde_json::{Value, json};

use super::super::{Bench, Case, Verdict, compare, run};
use crate::{
    failure::{Context, Result, fail},
    interop::{
        bcolz::{fresh, queries},
        case::Draw,
    },
};

/// Types that text can express, and the types that reading text assumes.
const FIELDS: [(&str, &str, &str); 12] = [
    ("int", "int32", "<i8"),
    ("long", "int64", "<i8"),
    ("large", "uint64", "<u8"),
    ("float", "float64", "<f8"),
    ("truth", "bool", "|b1"),
    ("bytes", "|S7", "<U"),
    ("letters", "<U5", "<U"),
    ("other", "<U2", "<U"),
    ("day", "datetime64[D]", "<M8[D]"),
    ("second", "datetime64[s]", "<M8[s]"),
    ("nano", "datetime64[ns]", "<M8[ns]"),
    ("x,\"y\"", "float32", "<f8"),
];

/// A table of bcolz made from comma-separated values is converted back to them.
pub(in crate::interop) fn text(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let quoting =
        json!({"quoting": case.level % 4 % 3, "newline": if case.dict { "\r\n" } else { "\n" }});
    there_and_back(bench, case, "csv", quoting)
}

/// As [`text`], with Parquet by pyarrow.
pub(in crate::interop) fn parquet(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    there_and_back(bench, case, "parquet", json!({}))
}

fn there_and_back(bench: &mut Bench, case: &Case, format: &str, manners: Value) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "program-bcolz-text", 0);
    let (root, path) = (fresh(bench)?, bench.folder.join(format!("items.{format}")));
    let fields: Vec<_> = FIELDS.into_iter().filter(|_| draw.chance(60)).collect();
    let fields = if fields.is_empty() { vec![FIELDS[5]] } else { fields };
    let rows = 1 + draw.any_size(9);
    let data: Vec<Vec<u8>> =
        fields.iter().map(|(_, dtype, _)| items(&mut draw, dtype, rows)).collect();
    let parts: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
    let mut request = manners;
    request["op"] = "file_write".into();
    request["path"] = path.to_string_lossy().into();
    request["format"] = format.into();
    request["fields"] = fields.iter().map(|(name, dtype, _)| json!([name, dtype, []])).collect();
    bench.oracle.ask(request.clone(), &parts)?;

    let mut b2 = bench.b2(case, "convert");
    b2.args(["--quiet", "--format=ctable"]).arg(&path).arg("-o").arg(&root);
    let is_told = format == "csv" && draw.chance(50);
    if is_told {
        let texts: Vec<String> =
            fields.iter().map(|(name, dtype, _)| format!("('{name}', '{dtype}')")).collect();
        b2.arg(format!("--dtype=[{}]", texts.join(", ")));
    }
    run(&mut b2, &[])?;
    let mut question = json!({"op": "bcolz_table_values", "root": root.to_string_lossy()});
    question["fields"] = request["fields"].clone();
    let found = bench.oracle.ask(question, &[])?;
    for (((name, _, guess), expected), (found, dtype)) in fields
        .iter()
        .zip(&data)
        .zip(found.parts.iter().zip(found.facts["dtypes"].as_array().into_iter().flatten()))
    {
        compare("what bcolz reads", expected, found).at(name)?;
        if format == "csv"
            && !is_told
            && !dtype.as_str().is_some_and(|dtype| dtype.starts_with(guess))
        {
            return fail(format!("column {name} is {dtype}, {guess} expected"));
        }
    }

    run(bench.b2(case, "convert").args(["--quiet", "--force"]).args([&root, &path]), &[])?;
    request["op"] = "file_read".into();
    let found = bench.oracle.ask(request, &[])?;
    for (((name, ..), expected), found) in fields.iter().zip(&data).zip(&found.parts) {
        compare("what came back", expected, found).at(name)?;
    }
    Ok(Verdict::Equal)
}

/// Items of these types that text expresses without loss.
fn items(draw: &mut Draw, dtype: &str, rows: usize) -> Vec<u8> {
    let mut bytes = vec![];
    for _ in 0..rows {
        let number = i32::try_from(draw.any_size(30)).unwrap_or(0) - (1 << 20);
        match dtype {
            "int32" => bytes.extend(number.to_le_bytes()),
            "int64" => bytes.extend((i64::from(number) << draw.within(0..32)).to_le_bytes()),
            "uint64" => bytes.extend((u64::MAX - u64::from(number.unsigned_abs())).to_le_bytes()),
            "float64" => bytes.extend((f64::from(number) / 3.0).to_le_bytes()),
            "float32" => bytes
                .extend((f32::from(i16::try_from(number % 1000).unwrap_or(0)) / 8.0).to_le_bytes()),
            // The first date is NaT, and the others are days in the range of nanoseconds.
            dtype if dtype.starts_with("datetime64") && bytes.is_empty() && rows > 1 => {
                bytes.extend(i64::MIN.to_le_bytes());
            }
            "datetime64[D]" => bytes.extend(i64::from(number % 50_000).to_le_bytes()),
            "datetime64[s]" | "datetime64[ns]" => {
                bytes.extend((i64::from(number) << 10).to_le_bytes())
            }
            "bool" => bytes.push(u8::from(number % 2 == 0)),
            "|S7" => bytes.extend(letters(draw, 7, b"aZ ,\".")),
            _ => {
                let len = if dtype == "<U5" { 5 } else { 2 };
                let all = ['a', 'ä', '"', ',', ' ', '\n', '\u{1f600}', '-'].map(u32::from);
                bytes.extend(letters(draw, len, &all).into_iter().flat_map(u32::to_le_bytes));
            }
        }
    }
    bytes
}

/// Some of `all`, then zeros up to `len` entries.
fn letters<T: Copy + Default>(draw: &mut Draw, len: usize, all: &[T]) -> Vec<T> {
    let filled = draw.within(0..len + 1);
    (0..len).map(|n| if n < filled { draw.pick(all) } else { T::default() }).collect()
}

/// `b2 show --csv --where` shows the rows that bcolz finds.
pub(in crate::interop) fn query(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "program-bcolz-query", 0);
    let root = fresh(bench)?;
    queries::make(&root, &mut draw)?;
    let path = bench.folder.join("rows.csv");
    for _ in 0..3 {
        let expr = queries::condition(&mut draw, 3);
        let chosen: Vec<_> = queries::COLUMNS.into_iter().filter(|_| draw.chance(60)).collect();
        let chosen = if chosen.is_empty() { vec![queries::COLUMNS[3]] } else { chosen };
        let names: Vec<&str> = chosen.iter().map(|(name, _)| *name).collect();
        let request = json!({
            "op": "bcolz_query", "root": root.to_string_lossy(), "expr": expr, "names": names,
        });
        let theirs = bench.oracle.ask(request, &[]).at(&expr)?;
        let mut b2 = bench.b2(case, "show");
        b2.arg("--csv")
            .arg(format!("--where={expr}"))
            .arg(format!("--columns={}", names.join(",")));
        std::fs::write(&path, run(b2.arg(&root), &[]).at(&expr)?).at(path.display())?;
        let fields: Vec<Value> =
            chosen.iter().map(|(name, dtype)| json!([name, dtype, []])).collect();
        let request = json!({"op": "file_read", "path": path.to_string_lossy(), "format": "csv", "fields": fields});
        let ours = bench.oracle.ask(request, &[]).at(&expr)?;
        for ((name, theirs), ours) in names.iter().zip(&theirs.parts).zip(&ours.parts) {
            compare("the rows", theirs, ours).at(name).at(&expr)?;
        }
    }
    Ok(Verdict::Equal)
}
