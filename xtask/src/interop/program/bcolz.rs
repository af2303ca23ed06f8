//! `b2 convert`, `b2 append` and `b2 show` on directories of bcolz: bcolz-zipline, NumPy and
//! python-blosc2 read the output of `b2`, and `b2` reads theirs.

mod text;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Bench, Case, Verdict, compare, run};
use crate::{
    failure::{Context, Result, fail},
    interop::{
        bcolz::{fresh, items::Recipe},
        case::Draw,
    },
};

pub(in crate::interop) use text::{parquet, query, text};

/// Arrays of all types, from bcolz or from a file, to files; then they grow.
pub(in crate::interop) fn array(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "program-bcolz", 0);
    let len = draw.any_size(11);
    let column = Column::draw(&mut draw, case, "", len);
    live(bench, case, &mut draw, vec![column])
}

/// Tables with columns of all types, from bcolz or from a file, to files; then they grow.
pub(in crate::interop) fn table(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "program-bcolz", 0);
    let len = draw.any_size(9);
    let names = ["a", "b1", "data", "ü", "meta"];
    let count = draw.within(1..names.len());
    let columns =
        names[..count].iter().map(|name| Column::draw(&mut draw, case, name, len)).collect();
    live(bench, case, &mut draw, columns)
}

fn live(bench: &mut Bench, case: &Case, draw: &mut Draw, columns: Vec<Column>) -> Result<Verdict> {
    let mut set = Set { root: fresh(bench)?, columns };
    if draw.chance(50) {
        set.create(bench).at("bcolz creates it")?;
    } else {
        set.convert_to(bench, case, draw).at("we make it of a file")?;
    }
    set.check(bench).at("as made")?;
    for format in ["npy", "b2nd"] {
        set.convert_from(bench, case, format).at(format)?;
    }
    for step in 0..draw.within(1..3) {
        set.append(bench, case, draw).at(format!("append {step}"))?;
        set.check(bench).at(format!("after append {step}"))?;
    }
    Ok(Verdict::Equal)
}

/// The expected content on disk: a table, or an array, whose column has no name.
struct Set {
    root: PathBuf,
    columns: Vec<Column>,
}

struct Column {
    name: &'static str,
    recipe: Recipe,
    data: Vec<u8>,
}

impl Column {
    fn draw(draw: &mut Draw, case: &Case, name: &'static str, len: usize) -> Self {
        let recipe = Recipe::draw(draw, len).plain();
        let data = recipe.rows(draw, case, len);
        Self { name, recipe, data }
    }

    fn field(&self) -> Value {
        json!([self.name, self.recipe.dtype, self.recipe.row_shape])
    }
}

impl Set {
    fn is_table(&self) -> bool {
        self.columns.iter().all(|column| !column.name.is_empty())
    }

    fn data(&self) -> Vec<&[u8]> {
        self.columns.iter().map(|column| column.data.as_slice()).collect()
    }

    fn create(&self, bench: &mut Bench) -> Result<()> {
        let recipes: Vec<Value> = self.columns.iter().map(|column| column.recipe.json()).collect();
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let mut request = match &recipes[..] {
            [array] if !self.is_table() => array.clone(),
            columns => json!({"names": names, "columns": columns}),
        };
        request["op"] = if self.is_table() { "bcolz_table_create" } else { "bcolz_create" }.into();
        request["attrs"] = json!({});
        request["root"] = self.root.to_string_lossy().into();
        bench.oracle.ask(request, &self.data()).map(drop)
    }

    /// Checks that bcolz reads the expected content.
    fn check(&self, bench: &mut Bench) -> Result<()> {
        let op = if self.is_table() { "bcolz_table_content" } else { "bcolz_content" };
        let found =
            bench.oracle.ask(json!({"op": op, "root": self.root.to_string_lossy()}), &[])?;
        self.compare(&found.parts)
    }

    fn compare(&self, found: &[Vec<u8>]) -> Result<()> {
        for (column, found) in self.columns.iter().zip(found) {
            compare("the items", &column.data, found).at(column.name)?;
        }
        Ok(())
    }

    /// A file of NumPy or python-blosc2, with these items.
    fn file(&self, bench: &mut Bench, draw: &mut Draw, items: &[&[u8]]) -> Result<PathBuf> {
        // python-blosc2 turns items of raw bytes into a field.
        let is_plain = self.is_table() || !self.columns[0].recipe.dtype.starts_with("|V");
        let format = if is_plain { draw.pick(&["npy", "b2nd"]) } else { "npy" };
        let path = bench.folder.join(format!("items.{format}"));
        bench.oracle.ask(self.request("file_write", &path, format), items)?;
        Ok(path)
    }

    fn request(&self, op: &str, path: &Path, format: &str) -> Value {
        let fields: Vec<Value> = self.columns.iter().map(Column::field).collect();
        json!({"op": op, "path": path.to_string_lossy(), "format": format, "fields": fields})
    }

    /// Makes the data set by `b2 convert`.
    fn convert_to(&self, bench: &mut Bench, case: &Case, draw: &mut Draw) -> Result<()> {
        let path = self.file(bench, draw, &self.data())?;
        let mut b2 = bench.b2(case, "convert");
        b2.args([
            "--quiet",
            "--verify",
            "--format",
            if self.is_table() { "ctable" } else { "carray" },
        ]);
        if draw.chance(50) {
            b2.args(options(&self.columns[0].recipe));
        }
        run(b2.arg(&path).arg("-o").arg(&self.root), &[]).map(drop)
    }

    /// Converts the data set to files by `b2 convert`.
    fn convert_from(&self, bench: &mut Bench, case: &Case, format: &str) -> Result<()> {
        let path = bench.folder.join(format!("out.{format}"));
        let mut b2 = bench.b2(case, "convert");
        run(b2.args(["--quiet", "--verify", "--force"]).args([&self.root, &path]), &[])?;
        let found = bench.oracle.ask(self.request("file_read", &path, format), &[])?;
        self.compare(&found.parts)
    }

    fn append(&mut self, bench: &mut Bench, case: &Case, draw: &mut Draw) -> Result<()> {
        let rows = draw.any_size(9);
        let more: Vec<Vec<u8>> =
            self.columns.iter().map(|column| column.recipe.rows(draw, case, rows)).collect();
        let parts: Vec<&[u8]> = more.iter().map(Vec::as_slice).collect();
        let mut b2 = bench.b2(case, "append");
        b2.arg("--quiet").arg(&self.root);
        if !self.is_table() && draw.chance(30) {
            run(&mut b2, &more[0])?;
        } else {
            let path = self.file(bench, draw, &parts)?;
            run(b2.arg(path), &[])?;
        }
        self.columns
            .iter_mut()
            .zip(&more)
            .for_each(|(column, more)| column.data.extend_from_slice(more));
        Ok(())
    }
}

/// Options of the program for writing a data set.
fn options(recipe: &Recipe) -> Vec<String> {
    let filter = ["none", "shuffle", "bitshuffle"][usize::from(recipe.shuffle % 3)];
    let mut options = vec![
        format!("--level={}", recipe.clevel),
        format!("--codec={}", recipe.cname),
        format!("--filter={filter}"),
    ];
    options.extend(recipe.chunklen.map(|chunklen| format!("--chunks={chunklen}")));
    options
}

/// `b2 convert` turns a table of bcolz into a store; python-blosc2 finds bcolz's data in it.
pub(in crate::interop) fn to_store(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "bcolz-to-store", 0);
    let root = bench.folder.join("table.bcolz");
    let store = bench.folder.join(draw.pick(&["table.b2z", "table.b2d"]));
    let request = json!({
        "op": "bcolz_table_make", "root": root.to_string_lossy(), "seed": case.recipe.seed,
    });
    bench.oracle.ask(request, &[])?;
    if store.is_dir() {
        std::fs::remove_dir_all(&store).at(store.display())?;
    }
    let mut b2 = bench.b2(case, "convert");
    run(b2.args(["--quiet", "--verify", "--force"]).args([&root, &store]), &[])?;
    let request = json!({
        "op": "bcolz_table_same", "root": store.to_string_lossy(), "table": root.to_string_lossy(),
    });
    let reply = bench.oracle.ask(request, &[])?;
    match reply.facts["wrong"].as_str() {
        Some(wrong) => fail(wrong),
        None => Ok(Verdict::Equal),
    }
}
