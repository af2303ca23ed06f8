//! Tables.

use std::path::PathBuf;

use bcolz_store::{CTable, CTableWriter, DataSet};
use serde_json::{Value, json};

use super::super::{Bench, Case, Verdict, case::Draw, compare};
use super::{Sums, fresh, items::Recipe};
use crate::failure::{Context, Result, fail};

/// bcolz makes a table, both change it.
pub(in super::super) fn read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let (mut draw, table) = Table::draw(bench, case)?;
    let mut request = table.request("bcolz_table_create");
    request["names"] = table.columns.iter().map(|column| column.name.as_str()).collect();
    request["columns"] = table.columns.iter().map(|column| column.recipe.json()).collect();
    bench.oracle.ask(request, &table.data())?;
    live(bench, case, &mut draw, table)
}

/// `bcolz-store` makes a table, both change it.
pub(in super::super) fn write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let (mut draw, table) = Table::draw(bench, case)?;
    let mut columns = Vec::new();
    for column in &table.columns {
        columns.push((column.name.as_str(), column.recipe.options()?));
    }
    let mut writer = CTableWriter::create(&table.root, &columns)?;
    writer.append(&table.data())?;
    writer.finish()?;
    live(bench, case, &mut draw, table)
}

/// The expected content of the table on disk.
struct Table {
    root: PathBuf,
    len: usize,
    columns: Vec<Column>,
    sums: Sums,
}

struct Column {
    name: String,
    recipe: Recipe,
    data: Vec<u8>,
}

fn live(bench: &mut Bench, case: &Case, draw: &mut Draw, mut table: Table) -> Result<Verdict> {
    table.check(bench).at("as made")?;
    for step in 1..draw.within(1..6) {
        let ours = draw.chance(50);
        let name = table.change(bench, case, draw, ours)?;
        let who = if ours { "we" } else { "they" };
        table.sums.changed(ours);
        table.check(bench).at(format!("change {step}: {who} {name}"))?;
    }
    Ok(Verdict::Equal)
}

impl Column {
    fn draw(draw: &mut Draw, case: &Case, name: String, len: usize) -> Self {
        let recipe = Recipe::draw(draw, len).plain();
        let data = recipe.rows(draw, case, len);
        Self { name, recipe, data }
    }
}

impl Table {
    fn draw(bench: &Bench, case: &Case) -> Result<(Draw, Self)> {
        let mut draw = Draw::new(case.recipe.seed.into(), "bcolz-table", 0);
        let len = draw.any_size(9);
        let names = ["a", "b1", "data", "ü", "meta"];
        let count = draw.within(1..names.len());
        let column = |name: &&str| Column::draw(&mut draw, case, (*name).to_owned(), len);
        let columns = names[..count].iter().map(column).collect();
        Ok((draw, Self { root: fresh(bench)?, len, columns, sums: Sums::default() }))
    }

    fn data(&self) -> Vec<&[u8]> {
        self.columns.iter().map(|column| column.data.as_slice()).collect()
    }

    fn request(&self, op: &str) -> Value {
        json!({"op": op, "root": self.root.to_string_lossy()})
    }

    fn check(&mut self, bench: &mut Bench) -> Result<()> {
        let theirs = bench.oracle.ask(self.request("bcolz_table_content"), &[])?;
        // Reading compares checksums as verifying does, which seals bcolz's changes.
        self.sums.verify(&DataSet::CTable(CTable::open(&self.root)?))?;
        let table = CTable::open(&self.root)?;
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        if theirs.facts["names"] != json!(names) || theirs.facts["len"] != self.len {
            return fail(format!("they know {}, we {names:?} and {}", theirs.facts, self.len));
        }
        if !table.names().eq(names.iter().copied()) || table.len() != self.len as u64 {
            return fail(format!(
                "we find {:?} and {}",
                table.names().collect::<Vec<_>>(),
                table.len()
            ));
        }
        for (column, found) in self.columns.iter().zip(&theirs.parts) {
            compare("what they read", &column.data, found).at(&column.name)?;
            let ours = table.column(&column.name)?.read(0..table.len())?;
            compare("what we read", &column.data, &ours).at(&column.name)?;
        }
        Ok(())
    }

    fn change(
        &mut self,
        bench: &mut Bench,
        case: &Case,
        draw: &mut Draw,
        ours: bool,
    ) -> Result<&'static str> {
        match draw.within(0..5) {
            0 | 1 => self.append(bench, case, draw, ours).map(|()| "append"),
            2 => self.trim(bench, draw, ours).map(|()| "trim"),
            3 => self.add(bench, case, draw, ours).map(|()| "add a column"),
            _ => self.delete(bench, draw, ours).map(|()| "delete or rename a column"),
        }
    }

    fn append(
        &mut self,
        bench: &mut Bench,
        case: &Case,
        draw: &mut Draw,
        ours: bool,
    ) -> Result<()> {
        let len = draw.any_size(8).max(1);
        let data: Vec<Vec<u8>> =
            self.columns.iter().map(|column| column.recipe.rows(draw, case, len)).collect();
        let parts: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
        if ours {
            let mut writer = CTableWriter::open(&self.root)?;
            writer.append(&parts)?;
            writer.finish()?;
        } else {
            bench.oracle.ask(self.request("bcolz_table_append"), &parts)?;
        }
        self.len += len;
        self.columns
            .iter_mut()
            .zip(&data)
            .for_each(|(column, data)| column.data.extend_from_slice(data));
        Ok(())
    }

    fn trim(&mut self, bench: &mut Bench, draw: &mut Draw, ours: bool) -> Result<()> {
        let rows = draw.within(0..self.len + 1);
        if ours {
            CTableWriter::open(&self.root)?.trim(rows as u64)?;
        } else {
            let mut request = self.request("bcolz_table_trim");
            request["rows"] = rows.into();
            bench.oracle.ask(request, &[])?;
        }
        self.len -= rows;
        let len = self.len;
        self.columns
            .iter_mut()
            .for_each(|column| column.data.truncate(len * column.recipe.rowsize));
        Ok(())
    }

    fn add(&mut self, bench: &mut Bench, case: &Case, draw: &mut Draw, ours: bool) -> Result<()> {
        let name = format!("new{}", draw.within(0..1_000_000));
        let column = Column::draw(draw, case, name, self.len);
        if ours {
            let mut writer = CTableWriter::open(&self.root)?;
            writer.add_column(&column.name, &column.recipe.options()?, &column.data)?;
            writer.finish()?;
        } else {
            let mut request = column.recipe.json();
            request["op"] = "bcolz_table_addcol".into();
            request["root"] = self.root.to_string_lossy().into();
            request["name"] = column.name.as_str().into();
            bench.oracle.ask(request, &[&column.data])?;
        }
        self.columns.push(column);
        Ok(())
    }

    fn delete(&mut self, bench: &mut Bench, draw: &mut Draw, ours: bool) -> Result<()> {
        // bcolz cannot open a table without columns.
        if self.columns.len() < 2 {
            return Ok(());
        }
        let place = draw.within(0..self.columns.len());
        if ours && draw.chance(50) {
            let column = &mut self.columns[place];
            let name = format!("renamed{}", draw.within(0..1_000_000));
            CTableWriter::open(&self.root)?.rename_column(&column.name, &name)?;
            column.name = name;
            return Ok(());
        }
        let column = self.columns.remove(place);
        if ours {
            CTableWriter::open(&self.root)?.delete_column(&column.name)?;
        } else {
            let mut request = self.request("bcolz_table_delcol");
            request["name"] = column.name.into();
            bench.oracle.ask(request, &[])?;
        }
        Ok(())
    }
}
