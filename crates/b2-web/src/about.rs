//! The description of a thing, in one document.

use blosc_data::{
    Array, Bytes, Column, Data, Dataset, Group, MemberKind, Table,
    json::{dtype_text, layers},
};
use serde_json::{Value, json};

use crate::chunks;
use crate::fault::Result;

/// Describes data, and lists the members of a group.
pub(crate) fn document(of: &Dataset) -> Result<Value> {
    let mut about = match &of.data {
        Data::Array(array) => array_json(&**array),
        Data::Bytes(bytes) => bytes_json(&**bytes),
        Data::Table(table) => table_json(&**table),
        Data::Group(group) => group_json(&**group)?,
        Data::Objects(objects) => {
            json!({ "kind": "objects", "format": objects.format(), "nrows": objects.len()? })
        }
        Data::Recipe(recipe) => json!({ "kind": "recipe", "recipe": recipe.kind.to_string() }),
        _ => json!({ "kind": of.data.kind_name() }),
    };
    let more = [
        ("name", json!(of.name)),
        ("attributes", Value::Object(of.attributes()?)),
        ("nbytes", json!(of.nbytes())),
        ("stored", json!(of.stored_nbytes())),
        ("nchunks", json!(chunks::count(&of.data))),
    ];
    if let Value::Object(map) = &mut about {
        map.extend(more.map(|(key, value)| (key.to_owned(), value)));
    }
    Ok(about)
}

fn array_json(array: &dyn Array) -> Value {
    json!({
        "kind": "array",
        "format": array.format(),
        "shape": array.shape(),
        "dtype": dtype_text(array.dtype()),
        "fields": array.dtype().fields().iter().map(|field| field.name()).collect::<Vec<_>>(),
        "chunkshape": array.chunkshape(),
        "blockshape": array.blockshape(),
        "pipeline": array.pipeline(),
        "lost": array.lost(),
        // Damaged ones are told by verifying.
        "frame": array.frame().map(|frame| layers(frame).unwrap_or_default()),
    })
}

fn bytes_json(bytes: &dyn Bytes) -> Value {
    json!({
        "kind": "bytes",
        "format": bytes.format(),
        "typesize": bytes.typesize(),
        "frame": bytes.frame().map(|frame| layers(frame).unwrap_or_default()),
    })
}

fn table_json(table: &dyn Table) -> Value {
    json!({
        "kind": "table",
        "format": table.format(),
        "nrows": table.nrows(),
        "columns": table.columns().iter().map(column_json).collect::<Vec<_>>(),
    })
}

fn column_json(column: &Column) -> Value {
    let dtype = column.dtype.as_ref().map(dtype_text);
    json!({
        "name": column.name,
        "dtype": dtype,
        "itemShape": column.item_shape,
        "nullable": column.is_nullable,
    })
}

fn group_json(group: &dyn Group) -> Result<Value> {
    let members = group.members()?.into_iter().map(|member| {
        let kind = match member.kind {
            MemberKind::Group => "group",
            MemberKind::Table => "table",
            _ => "value",
        };
        json!([member.name, kind])
    });
    let members: Vec<Value> = members.collect();
    let (format, lost) = (group.format(), group.lost());
    Ok(json!({ "kind": "group", "format": format, "members": members, "lost": lost }))
}
