//! The operations of stores: in an archive, in a directory, in one frame. The disk holds the store
//! under its name, and a writer's files beside it.

use std::sync::Arc;

use b2frame::{Checksums, FrameParams, NdParams, NdWriter, nd::Selection};
use b2store::{
    ColumnKind, ColumnValues, NewColumn, Nulls, OpenOptions, Store, StoreForm, StoreWriter, Value,
    Values, WriteOptions,
};
use blosc_io::tree::{MemTree, Tree};

use super::{
    Content, Operation,
    disk::TreeDisk,
    frames::{content_of, data},
};
use crate::{
    container::{Files, budget},
    failure::{Context, Result},
};

/// The key of the next writer's value, which the content leaves out.
const LATER: &str = "/later";

/// The name of the packed and unpacked copies.
const COPY: &str = "copy";

type Change = fn(&mut StoreWriter) -> Result<()>;

/// The operations on the store with a name.
macro_rules! operations {
    (
        $container:literal, $store:literal, $make:ident, $more:expr, |$next:ident| $go_on:expr;
        $($name:literal: |$writer:ident| $change:expr,)*
    ) => {
        vec![$(Operation {
            container: $container,
            name: $name,
            make: || $make($store),
            change: |tree| {
                let change: Change = |$writer| Ok($change?);
                let mut writer = StoreWriter::open_in(tree, $store, &write_options())?;
                change(&mut writer)?;
                writer.commit()?;
                Ok(())
            },
            read: |disk| read(disk, $store),
            next: |tree| {
                let change: Change = |$next| Ok($go_on?);
                let mut writer = StoreWriter::open_in(tree, $store, &write_options())?;
                change(&mut writer)?;
                writer.commit()?;
                Ok(())
            },
            more: $more,
        }),*]
    };
}

/// Makes a store at a free name.
macro_rules! new_stores {
    ($($container:literal: $store:literal,)*) => {
        vec![$(Operation {
            container: $container,
            name: "new store",
            make: || Ok(TreeDisk::new(MemTree::new())),
            change: |tree| fill(&tree, $store),
            read: |disk| match open(&disk.tree(), $store)? {
                Some(_) => read(disk, $store),
                None => Ok(Content { data: vec![], rest: "no store".to_owned() }),
            },
            next: |tree| {
                let options = write_options();
                let mut writer = match open(&tree, $store)? {
                    Some(_) => StoreWriter::open_in(tree, $store, &options)?,
                    None => StoreWriter::create_in(tree, $store, &options)?,
                };
                add_later(&mut writer)?;
                writer.commit()?;
                Ok(())
            },
            more: b"",
        }),*]
    };
}

macro_rules! operations_of {
    ($container:literal, $store:literal) => {{
        let mut all = operations! {
            $container, $store, make, b"", |store| add_later(store);
            "new value": |store| store.insert_cframe("/n", frame(&data(3000, 7))?),
            "new value in a new group": |store| store.insert_cframe("/new/deep/n", frame(b"n")?),
            "replace a value": |store| store.insert_cframe("/bytes", frame(&data(3000, 8))?),
            "replace a value by another kind": |store| store.insert_cframe("/bytes", array(9)?),
            "change an array": |store| change_array(store),
            "remove a value": |store| store.remove("/bytes"),
            "remove a group": |store| store.remove("/group"),
            "attribute of a value": |store| store.set_attribute("/bytes", "unit", &text("K")),
            "set cells": |store| {
                let value = ColumnValues::fixed("<i8".parse()?, vec![7; 8]);
                store.set_cells("/table", &[("id", &value)], &mut |row| row == 1).map(drop)
            },
            "add a column": |store| {
                let (new, value) = (NewColumn::new("new", ColumnKind::Utf8), "same");
                store.add_column("/table", &new, &ColumnValues::text([value]))
            },
            "rename a column": |store| store.rename_column("/table", "text", "other").map(drop),
            "drop a column": |store| store.drop_column("/table", "text").map(drop),
            "new table": |store| store.insert_table("/other", &columns(), &rows(&[1, 2])?),
            "remove a table": |store| store.remove("/table"),
        };
        all.extend(operations! {
            $container, $store, make, &[9, 0, 0, 0, 0, 0, 0, 0],
            |store| store.append_rows("/table", &rows(&[9])?);
            "append rows": |store| store.append_rows("/table", &rows(&[5, 6, 7])?),
            "append a row": |store| store.append_rows("/table", &rows(&[5])?),
            "delete rows": |store| store.delete_rows("/table", 0..2),
            "delete chosen rows": |store| {
                store.delete_chosen_rows("/table", &mut |row| row != 1).map(drop)
            },
            "append and delete rows": |store| {
                store.append_rows("/table", &rows(&[5, 6, 7])?)?;
                store.delete_rows("/table", 1..3)
            },
        });
        all.extend(operations! {
            $container, $store, make_table, &[9, 0, 0, 0, 0, 0, 0, 0],
            |store| store.append_rows("/", &rows(&[9])?);
            "append and delete rows at the root": |store| {
                store.append_rows("/", &rows(&[5, 6, 7])?)?;
                store.delete_rows("/", 0..2)
            },
        });
        all
    }};
}

/// A copy of the store in another form.
macro_rules! copies {
    ($($container:literal, $name:literal: $from:literal => $to:literal,)*) => {
        vec![$(Operation {
            container: $container,
            name: $name,
            make: || make($from),
            change: |tree| {
                let options = write_options();
                let from = open(&tree, $from)?.context($from)?;
                StoreWriter::copy_in(&from, tree, $to, &options)?.commit()?;
                Ok(())
            },
            read: |disk| {
                let mut content = read(disk, $from)?;
                if open(&disk.tree(), $to)?.is_some() {
                    content.rest += &format!("{COPY} {:?}", read(disk, $to)?);
                }
                Ok(content)
            },
            next: |tree| {
                let mut writer = StoreWriter::open_in(tree, $from, &write_options())?;
                add_later(&mut writer)?;
                writer.commit()?;
                Ok(())
            },
            more: b"",
        }),*]
    };
}

pub(super) fn all() -> Vec<Operation<TreeDisk>> {
    let copies = copies! {
        "b2z", "pack": "x.b2d" => "y.b2z",
        "b2d", "unpack": "x.b2z" => "y.b2d",
        "b2d", "copy": "x.b2d" => "y.b2d",
        "b2e", "copy into one frame": "x.b2z" => "y.b2e",
    };
    let mut all = operations_of!("b2z", "x.b2z");
    all.extend(operations_of!("b2d", "x.b2d"));
    all.extend(operations_of!("b2e", "x.b2e"));
    all.extend(operations! {
        "b2z", "x.b2z", make, b"", |store| add_later(store);
        "several": |store| several(store),
        "attribute of a group": |store| store.set_attribute("/group", "unit", &text("K")),
    });
    all.extend(operations! {
        "b2d", "x.b2d", make, b"", |store| add_later(store);
        "attribute of a group": |store| store.set_attribute("/group", "unit", &text("K")),
    });
    all.extend(operations! {
        "b2e", "x.b2e", make, b"", |store| add_later(store);
        "several": |store| several(store),
    });
    all.extend(copies);
    all.extend(new_stores! { "b2z": "x.b2z", "b2d": "x.b2d", "b2e": "x.b2e", });
    all.sort_by_key(|operation| operation.container);
    all
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn frame(bytes: &[u8]) -> Result<Vec<u8>> {
    let params = FrameParams::default().chunksize(1024).checksums(Checksums::Chunks);
    Ok(b2frame::to_cframe(bytes, &params)?)
}

fn array(seed: u32) -> Result<Vec<u8>> {
    let params = NdParams::new(&[16, 8], "<i4".parse()?).chunkshape(&[8, 8]).blockshape(&[4, 4]);
    let mut writer = NdWriter::in_memory(&params)?;
    writer.write_bytes(Selection::ALL, &data(16 * 8 * 4, seed))?;
    Ok(writer.finish()?.schunk().to_cframe()?)
}

fn change_array(store: &mut StoreWriter) -> Result<()> {
    store.edit_array("/group/array", |array| Ok(array.append_bytes(0, &data(8 * 4, 10))?))
}

fn columns() -> [NewColumn; 4] {
    [
        NewColumn::new("id", ColumnKind::Fixed("i8")),
        NewColumn::new("word", ColumnKind::Dictionary { null_code: -1 }),
        NewColumn::new("text", ColumnKind::Utf8).nulls(Nulls::Mask),
        NewColumn::new("line", ColumnKind::VlString),
    ]
}

/// Lines have any length, so that the batches of a table differ in size.
fn rows(ids: &[i64]) -> Result<[ColumnValues; 4]> {
    let bytes = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    let texts: Vec<String> = ids.iter().map(|id| format!("text {id}")).collect();
    let words = || ColumnValues::text(texts.iter().map(String::as_str));
    let is_even = ids.iter().map(|id| id % 2 == 0).collect();
    let lines: Vec<String> =
        ids.iter().map(|id| "x".repeat(usize::try_from(id * id % 17).unwrap_or(0))).collect();
    let lines = ColumnValues::text(lines.iter().map(String::as_str));
    Ok([ColumnValues::fixed("<i8".parse()?, bytes), words(), words().with_valid(is_even), lines])
}

fn add_later(store: &mut StoreWriter) -> Result<()> {
    Ok(store.insert_cframe(LATER, frame(&[5; 10])?)?)
}

/// Adds values, replaces one by another kind, and removes some; adds an unusual object.
fn several(store: &mut StoreWriter) -> Result<()> {
    store.insert_cframe("/n", frame(&[3; 9999])?)?;
    store.insert_cframe("/bytes", array(9)?)?;
    let params = FrameParams::default().metalayer("batcharray", *b"\x81\xa7version\x01");
    store.insert_cframe("/other", b2frame::to_cframe(b"of batches", &params)?)?;
    store.remove("/group/more")?;
    Ok(store.register("/odd", Value::Map(vec![]))?)
}

fn make(name: &str) -> Result<TreeDisk> {
    let tree = Arc::new(MemTree::new());
    fill(&(tree.clone() as Arc<dyn Tree>), name)?;
    Ok(TreeDisk::new(MemTree::clone(&tree)))
}

/// Makes a store that is a single table.
fn make_table(name: &str) -> Result<TreeDisk> {
    let tree = Arc::new(MemTree::new());
    let mut writer = StoreWriter::create_in(tree.clone(), name, &write_options())?;
    writer.insert_table("/", &columns(), &rows(&[0, 2, 4])?)?;
    writer.commit()?;
    Ok(TreeDisk::new(MemTree::clone(&tree)))
}

/// Values in groups, attributes, a table.
fn fill(tree: &Arc<dyn Tree>, name: &str) -> Result<()> {
    let mut writer = StoreWriter::create_in(tree.clone(), name, &write_options())?;
    writer.insert_cframe("/bytes", frame(&data(2500, 1))?)?;
    writer.insert_cframe("/group/array", array(2)?)?;
    writer.insert_cframe("/group/more", frame(b"more")?)?;
    writer.set_attribute("/bytes", "unit", &text("m"))?;
    // A store in one frame has no groups.
    if writer.form() != StoreForm::Embed {
        writer.set_attribute("/group", "title", &text("old"))?;
    }
    writer.insert_table("/table", &columns(), &rows(&[0, 2, 4])?)?;
    writer.commit()?;
    Ok(())
}

fn open_options() -> OpenOptions {
    OpenOptions::default().budget(budget())
}

fn write_options() -> WriteOptions {
    WriteOptions::default().open(open_options())
}

/// The store of a name, if it exists.
fn open(tree: &Arc<dyn Tree>, name: &str) -> Result<Option<Store>> {
    let entries = tree.list("")?;
    let Some(entry) = entries.iter().find(|entry| entry.name == name) else { return Ok(None) };
    let options = open_options();
    if entry.is_dir {
        let files = Files::from_tree(&**tree, name)?.tree()?;
        return Ok(Some(Store::from_tree(files, &options)?));
    }
    Ok(Some(Store::from_store(Arc::from(tree.open(name)?), &options)?))
}

/// The values one after another, and the first column of each table; keys, attributes and rows.
fn read(disk: &TreeDisk, name: &str) -> Result<Content> {
    let store = open(&disk.tree(), name)?.context(name)?;
    let (mut data, mut rest) = (vec![], String::new());
    let is_table = store.tables().any(|key| key == "/");
    for key in store.keys().filter(|key| *key != LATER) {
        store.check_crc(key).at(key)?;
        let content = content_of(&store.frame(key)?).at(key)?;
        // A table counts by its rows.
        if !is_table && !is_in_table(key) {
            rest += &format!("{key} {} {:?} ", content.rest, store.attributes(key)?);
            data.extend(content.data);
        }
    }
    rest += &format!("{:?} ", store.attributes("/group").ok());
    for key in store.tables() {
        let table = store.table(key)?;
        let len = table.len()?;
        rest += &format!("{key} {len} ");
        for spec in &table.schema().columns {
            let values = table.column(&spec.name)?.read(0..len)?;
            let cells: Vec<Value> = (0..values.len()).map(|row| values.value(row)).collect();
            rest += &format!("{} {cells:?} ", spec.name);
            if let Values::Fixed { bytes, .. } = &values.values {
                data.extend(bytes);
            }
        }
    }
    Ok(Content { data, rest })
}

/// Whether the key is below that of a table of these operations.
fn is_in_table(key: &str) -> bool {
    key.starts_with("/table") || key.starts_with("/other")
}

/// Values that must exist.
trait Present<T> {
    fn context(self, name: &str) -> Result<T>;
}

impl<T> Present<T> for Option<T> {
    fn context(self, name: &str) -> Result<T> {
        self.map_or_else(|| crate::failure::fail(format!("{name} is not there")), Ok)
    }
}
