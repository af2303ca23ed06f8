//! Arrays.

use std::{fs, path::PathBuf};

use bcolz_store::{CArray, CArrayWriter, DataSet, Json};
use serde_json::{Value, json};

use super::super::{
    Bench, Case, Verdict,
    case::{Draw, slice},
    compare,
};
use super::{Sums, fresh, items::Recipe};
use crate::failure::{Context, Result, fail};

/// bcolz makes an array, both change it.
pub(in super::super) fn read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let (mut draw, mut array) = Array::draw(bench, case)?;
    bench.oracle.ask(array.request("bcolz_create"), &[&array.data])?;
    array.compare_with_ours(bench)?;
    if array.recipe.is_lossy() {
        array.data = array.content(bench)?;
    }
    live(bench, case, &mut draw, array)
}

/// `bcolz-store` makes an array, both change it.
pub(in super::super) fn write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let (mut draw, mut array) = Array::draw(bench, case)?;
    array.create(array.root.clone())?;
    if array.recipe.is_lossy() {
        array.data = array.content(bench)?;
    }
    live(bench, case, &mut draw, array)
}

/// The expected content of the array on disk.
struct Array {
    root: PathBuf,
    recipe: Recipe,
    data: Vec<u8>,
    attrs: Value,
    sums: Sums,
}

fn live(bench: &mut Bench, case: &Case, draw: &mut Draw, mut array: Array) -> Result<Verdict> {
    array.check(bench, draw).at("as made")?;
    // Only bcolz rounds values again that were read back, so a lossy array is not changed.
    let steps = if array.recipe.is_lossy() { 1 } else { draw.within(1..6) };
    for step in 1..steps {
        let ours = draw.chance(50);
        let name = array.change(bench, case, draw, ours)?;
        let who = if ours { "we" } else { "they" };
        array.sums.changed(ours);
        array.check(bench, draw).at(format!("change {step}: {who} {name}"))?;
    }
    Ok(Verdict::Equal)
}

impl Array {
    fn draw(bench: &Bench, case: &Case) -> Result<(Draw, Self)> {
        let mut draw = Draw::new(case.recipe.seed.into(), "bcolz", 0);
        let len = draw.any_size(11);
        let recipe = Recipe::draw(&mut draw, len);
        let data = recipe.rows(&mut draw, case, len);
        let attrs = match draw.within(0..3) {
            0 => json!({"a": 1, "ä": [1.5, null, true, {"b": "\u{1f600}"}], "c": "x"}),
            _ => json!({}),
        };
        Ok((draw, Self { root: fresh(bench)?, recipe, data, attrs, sums: Sums::default() }))
    }

    fn len(&self) -> usize {
        self.data.len() / self.recipe.rowsize
    }

    fn request(&self, op: &str) -> Value {
        let mut request = self.recipe.json();
        request["op"] = op.into();
        request["root"] = self.root.to_string_lossy().into();
        request["attrs"] = self.attrs.clone();
        request
    }

    fn create(&self, root: PathBuf) -> Result<()> {
        let mut writer = CArrayWriter::create(root, &self.recipe.options()?)?;
        writer.append(&self.data)?;
        for (name, value) in self.attrs.as_object().into_iter().flatten() {
            writer.set_attr(name, json_of(value))?;
        }
        Ok(writer.finish()?)
    }

    /// Compares the files that do not depend on a codec byte for byte.
    fn compare_with_ours(&self, bench: &Bench) -> Result<()> {
        let ours = bench.folder.join("bcolz-ours");
        if ours.exists() {
            fs::remove_dir_all(&ours)?;
        }
        self.create(ours.clone())?;
        for path in ["__attrs__", "meta/storage"] {
            compare(path, &fs::read(self.root.join(path))?, &fs::read(ours.join(path))?)?;
        }
        for entry in fs::read_dir(self.root.join("data"))? {
            let name = entry?.file_name();
            let theirs = fs::read(self.root.join("data").join(&name))?;
            let found = fs::read(ours.join("data").join(&name))?;
            // Magic, header and sizes, without the compressed size and the flag of uncompressed
            // data.
            let head = |file: &[u8]| [&file[..18], &[file[18] & !2], &file[19..28]].concat();
            compare("the head of a chunk", &head(&theirs), &head(&found))?;
            if self.recipe.json()["clevel"] == 0 {
                compare("a chunk at level 0", &theirs, &found)?;
            }
        }
        Ok(())
    }

    /// The data as bcolz reads them.
    fn content(&self, bench: &mut Bench) -> Result<Vec<u8>> {
        bench.oracle.ask(self.request("bcolz_content"), &[])?.into_first()
    }

    fn check(&mut self, bench: &mut Bench, draw: &mut Draw) -> Result<()> {
        let theirs = bench.oracle.ask(self.request("bcolz_content"), &[])?;
        // Reading compares checksums as verifying does, which seals bcolz's changes.
        self.sums.verify(&DataSet::CArray(CArray::open(&self.root)?))?;
        let array = CArray::open(&self.root)?;
        let shape = json!(array.shape());
        if theirs.facts["shape"] != shape || theirs.facts["attrs"] != self.attrs {
            return fail(format!("they know {}, we {shape} and {}", theirs.facts, self.attrs));
        }
        compare("what they read", &self.data, &theirs.into_first()?)?;
        compare("what we read", &self.data, &array.read(0..array.len())?)?;
        for rows in (0..3).filter_map(|_| slice(draw, self.len())) {
            let bytes = rows.start * self.recipe.rowsize..rows.end * self.recipe.rowsize;
            compare("rows", &self.data[bytes], &array.read(rows.start as u64..rows.end as u64)?)?;
        }
        Ok(())
    }

    /// A change by one of the programs, with its expected result.
    fn change(
        &mut self,
        bench: &mut Bench,
        case: &Case,
        draw: &mut Draw,
        ours: bool,
    ) -> Result<&'static str> {
        match draw.within(0..4) {
            0 => self.append(bench, case, draw, ours).map(|()| "append"),
            1 => self.set(bench, case, draw, ours).map(|()| "set"),
            2 => self.resize(bench, draw, ours).map(|()| "resize"),
            _ => self.set_attr(bench, draw, ours).map(|()| "set an attribute"),
        }
    }

    fn append(
        &mut self,
        bench: &mut Bench,
        case: &Case,
        draw: &mut Draw,
        ours: bool,
    ) -> Result<()> {
        let len = draw.any_size(10);
        let data = self.recipe.rows(draw, case, len);
        if ours {
            let mut writer = CArrayWriter::open(&self.root)?;
            writer.append(&data)?;
            writer.finish()?;
        } else if len > 0 {
            bench.oracle.ask(self.request("bcolz_append"), &[&data])?;
        }
        self.data.extend_from_slice(&data);
        Ok(())
    }

    fn set(&mut self, bench: &mut Bench, case: &Case, draw: &mut Draw, ours: bool) -> Result<()> {
        let Some(rows) = slice(draw, self.len()).filter(|rows| !rows.is_empty()) else {
            return Ok(());
        };
        let data = self.recipe.rows(draw, case, rows.len());
        if ours {
            let mut writer = CArrayWriter::open(&self.root)?;
            writer.write_rows(rows.start as u64, &data)?;
            writer.finish()?;
        } else {
            let mut request = self.request("bcolz_set");
            request["start"] = rows.start.into();
            bench.oracle.ask(request, &[&data])?;
        }
        let start = rows.start * self.recipe.rowsize;
        self.data[start..start + data.len()].copy_from_slice(&data);
        Ok(())
    }

    fn resize(&mut self, bench: &mut Bench, draw: &mut Draw, ours: bool) -> Result<()> {
        let mut len = draw.within(0..2 * self.len() + 3);
        if !self.recipe.is_filled() {
            len = len.min(self.len());
        }
        if ours {
            CArrayWriter::open(&self.root)?.resize(len as u64)?;
        } else {
            let mut request = self.request("bcolz_resize");
            request["len"] = len.into();
            bench.oracle.ask(request, &[])?;
        }
        self.data.truncate(len * self.recipe.rowsize);
        while self.len() < len {
            self.data.extend(self.recipe.fill());
        }
        Ok(())
    }

    fn set_attr(&mut self, bench: &mut Bench, draw: &mut Draw, ours: bool) -> Result<()> {
        let name = draw.pick(&["a", "new", "ö"]);
        let value = json!([draw.within(0..100), "é", 0.1]);
        if ours {
            CArrayWriter::open(&self.root)?.set_attr(name, json_of(&value))?;
        } else {
            let mut request = self.request("bcolz_attr");
            request["name"] = name.into();
            request["value"] = value.clone();
            bench.oracle.ask(request, &[])?;
        }
        self.attrs[name] = value;
        Ok(())
    }
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| number.as_f64().unwrap_or(0.0).into(), Json::from)
        }
        Value::String(text) => Json::from(text.as_str()),
        Value::Array(values) => Json::Array(values.iter().map(json_of).collect()),
        Value::Object(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), json_of(value))).collect())
        }
    }
}
