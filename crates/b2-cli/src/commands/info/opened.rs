//! `b2 info` on arrays of other formats.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Lines, dims, print_report, sizes};
use blosc_data::{Array, ForeignGroup};

use crate::{
    console::Console,
    context::Context,
    error::Result,
    render::size,
    report::{Problems, info::title},
};

/// An array of another format.
#[derive(Serialize)]
#[serde(tag = "schema", rename = "b2.info/1")]
struct OpenedReport<'a> {
    path: &'a str,
    format: &'static str,
    dtype: String,
    shape: &'a [u64],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    chunkshape: &'a [u64],
    #[serde(skip_serializing_if = "String::is_empty")]
    pipeline: String,
    nbytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cbytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cratio: Option<f64>,
    attrs: Map<String, Value>,
    /// Attributes that the opener does not read.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lost: Vec<String>,
}

/// Describes an array.
pub(super) fn run(cx: &Context, name: &str, array: &dyn Array) -> Result<()> {
    let (nbytes, cbytes) = (array.nbytes(), array.stored_nbytes());
    let report = OpenedReport {
        path: name,
        format: array.format(),
        dtype: array.dtype().to_string(),
        shape: array.shape(),
        chunkshape: array.chunkshape(),
        pipeline: array.pipeline(),
        nbytes,
        cbytes,
        cratio: cbytes.and_then(|cbytes| size::cratio(nbytes, cbytes)),
        attrs: array.attributes()?,
        lost: array.lost(),
    };
    print_report(cx, &report, |console| text(&report, console), &Problems::default(), || Ok(()))
}

fn text(report: &OpenedReport<'_>, console: &Console) -> String {
    let mut lines = Lines::new(console, report.path, &format!("{} array", title(report.format)));
    lines.add("shape", &format!("{}     {}", dims(report.shape), report.dtype));
    if !report.chunkshape.is_empty() {
        lines.add("chunks", &dims(report.chunkshape));
    }
    let units = console.units();
    let size = report.cbytes.map(|cbytes| sizes(report.nbytes, cbytes, units));
    lines.add("size", &size.unwrap_or_else(|| units.size(report.nbytes).to_string()));
    if !report.pipeline.is_empty() {
        lines.add("pipeline", &report.pipeline);
    }
    lines.attrs(&report.attrs, console.verbose() > 0);
    lines.notes(&not_read(&report.lost), &Problems::default());
    lines.text
}

/// A group of arrays.
#[derive(Serialize)]
#[serde(tag = "schema", rename = "b2.info/1")]
struct GroupReport<'a> {
    path: &'a str,
    format: &'static str,
    arrays: &'a [String],
    attrs: &'a Map<String, Value>,
    /// The attributes of the groups in it, by their paths.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    groups: &'a BTreeMap<String, Map<String, Value>>,
    /// Attributes that the opener does not read.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lost: &'a [String],
    /// Links and files that are no arrays, by their paths.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    others: &'a BTreeMap<String, String>,
}

/// Describes a group, without its arrays.
pub(super) fn group(cx: &Context, name: &str, group: &ForeignGroup) -> Result<()> {
    let report = GroupReport {
        path: name,
        format: group.format,
        arrays: &group.members,
        attrs: &group.attributes,
        groups: &group.groups,
        lost: &group.lost,
        others: &group.others,
    };
    let text = |console: &Console| {
        let narrays = size::count(group.members.len() as u64);
        let what = format!("{} group, arrays: {narrays}", title(group.format));
        let mut lines = Lines::new(console, name, &what);
        lines.attrs(&group.attributes, console.verbose() > 0);
        let others = group.others.iter().map(|(path, text)| format!("{path}: {text}"));
        let notes: Vec<String> = not_read(&group.lost).into_iter().chain(others).collect();
        lines.notes(&notes, &Problems::default());
        lines.text
    };
    print_report(cx, &report, text, &Problems::default(), || Ok(()))
}

fn not_read(lost: &[String]) -> Vec<String> {
    lost.iter().map(|what| format!("{what} is not read")).collect()
}
