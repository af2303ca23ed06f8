//! `b2 info` on a store, and on a table in one.

use b2store::{
    Note, Store, Table,
    table::{ColumnKind, ColumnSpec, Index, Nulls},
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Lines, print_report, sizes};
use crate::inputs::Place;
use crate::{
    console::Console,
    context::Context,
    error::{Result, chain},
    exit::Code,
    formats::{
        TableRows,
        store::{self, Member},
    },
    render::{Units, size},
    report::Problems,
};

/// Members that are listed without `-v`.
const MAX_LISTED: usize = 20;

/// The description of a store.
#[derive(Debug, Default, Serialize)]
#[serde(tag = "schema", rename = "b2.info/1")]
struct StoreReport<'a> {
    path: &'a str,
    format: &'static str,
    kind: &'static str,
    nbytes: u64,
    cbytes: u64,
    /// Bytes of frames that nothing refers to; `None` where the store cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    dead_bytes: Option<u64>,
    members: Vec<Member>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    attributes: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<TableReport>,
    warnings: Vec<String>,
    problems: Problems,
}

/// The description of a table.
#[derive(Debug, Serialize)]
struct TableReport {
    rows: u64,
    /// Rows that there is space for, deleted rows included.
    capacity: u64,
    schema_version: u8,
    columns: Vec<ColumnReport>,
}

#[derive(Debug, Serialize)]
struct ColumnReport {
    name: String,
    kind: String,
    nulls: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expression: Option<String>,
    /// Whether conditions use the index of python-blosc2, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<String>,
}

/// Describes a store.
pub(super) fn run(cx: &Context, name: &str, path: &Place) -> Result<()> {
    let opened = store::open(path, cx.read_params())?;
    let mut report = StoreReport::new(name, store::format(path), &opened)?;
    if opened.tables().any(|key| key == "/") {
        report.table = Some(TableReport::new(&opened.table("/")?)?);
    }
    print(cx, &report)
}

/// Describes a table in a store.
pub(super) fn describe_table(cx: &Context, name: &str, table: &Table) -> Result<()> {
    let (nbytes, cbytes) = store::table_sizes(table)?;
    let report = StoreReport {
        path: name,
        format: "ctable",
        kind: "a table",
        nbytes,
        cbytes,
        attributes: blosc_data::json::map(&table.attributes()?),
        table: Some(TableReport::new(table)?),
        ..StoreReport::default()
    };
    print(cx, &report)
}

/// Describes a column of a table, or a file of another format that is a table.
pub(super) fn describe_column(cx: &Context, name: &str, rows: &TableRows) -> Result<()> {
    let mut table = TableReport::new(rows.table())?;
    let is_asked =
        |report: &ColumnReport| rows.columns().iter().any(|c| c.spec().name == report.name);
    table.columns.retain(is_asked);
    let (nbytes, cbytes) = rows.sizes();
    let report = StoreReport {
        path: name,
        nbytes,
        cbytes,
        format: if rows.is_column() { "ctable" } else { rows.format() },
        kind: if rows.is_column() { "a column of a table" } else { "a table" },
        table: Some(table),
        ..StoreReport::default()
    };
    print(cx, &report)
}

fn print(cx: &Context, report: &StoreReport<'_>) -> Result<()> {
    let text = |console: &Console| text(report, console);
    print_report(cx, report, text, &report.problems, || Ok(()))
}

impl<'a> StoreReport<'a> {
    fn new(path: &'a str, format: &'static str, opened: &Store) -> Result<Self> {
        let members = store::members(opened);
        let sum = |of: fn(&Member) -> u64| {
            members.iter().fold(0_u64, |sum, member| sum.saturating_add(of(member)))
        };
        let mut problems = Problems::default();
        for member in &members {
            if let Some(failure) = &member.failure {
                problems.add_text(format!("{}: {}", member.key, chain(failure)), failure.code());
            }
        }
        let is_lost = |note: &&Note| matches!(note, Note::NoManifest { .. });
        let (lost, notes): (Vec<&Note>, Vec<&Note>) = opened.notes().iter().partition(is_lost);
        lost.iter().for_each(|note| problems.add_text(store::note_text(note), Code::Data));
        Ok(Self {
            path,
            format,
            kind: store::kind_text(opened),
            nbytes: sum(|member| member.nbytes),
            cbytes: sum(|member| member.cbytes),
            dead_bytes: opened.dead_bytes().ok(),
            attributes: blosc_data::json::map(&opened.attributes("/")?),
            table: None,
            warnings: notes.into_iter().map(store::note_text).collect(),
            problems,
            members,
        })
    }
}

impl TableReport {
    fn new(table: &Table) -> Result<Self> {
        let (schema, indexes) = (table.schema(), table.indexes());
        let index = |name: &str| indexes.iter().find(|index| index.column == name);
        let stored = schema.columns.iter().map(|column| ColumnReport {
            name: column.name.clone(),
            kind: kind(column),
            nulls: match column.nulls {
                Nulls::None => "none",
                Nulls::Mask => "mask",
                Nulls::Sentinel(_) => "sentinel",
                _ => "native",
            },
            expression: None,
            index: index(&column.name).map(Index::use_text),
        });
        let computed = schema.computed.iter().map(|column| ColumnReport {
            name: column.name.clone(),
            kind: column.dtype.clone(),
            nulls: "none",
            expression: Some(column.expression.clone()),
            index: None,
        });
        Ok(Self {
            rows: table.len()?,
            capacity: table.capacity(),
            schema_version: schema.version,
            columns: stored.chain(computed).collect(),
        })
    }
}

/// The type of a column, as the schema calls it.
fn kind(column: &ColumnSpec) -> String {
    match &column.kind {
        ColumnKind::Fixed(name) => (*name).to_owned(),
        ColumnKind::String => "text of fixed width".to_owned(),
        ColumnKind::Bytes => "bytes of fixed width".to_owned(),
        ColumnKind::Timestamp { unit, timezone: None } => format!("timestamp[{unit}]"),
        ColumnKind::Timestamp { unit, timezone: Some(zone) } => {
            format!("timestamp[{unit}, {zone}]")
        }
        ColumnKind::NdArray { item_shape } => format!("arrays of {}", super::dims(item_shape)),
        ColumnKind::Utf8 => "utf8".to_owned(),
        ColumnKind::VlString => "vlstring".to_owned(),
        ColumnKind::VlBytes => "vlbytes".to_owned(),
        ColumnKind::Struct => "struct".to_owned(),
        ColumnKind::Object => "object".to_owned(),
        ColumnKind::List => "list".to_owned(),
        ColumnKind::Dictionary { .. } => "dictionary".to_owned(),
        ColumnKind::Remote => "somewhere else".to_owned(),
        ColumnKind::Unknown(name) => format!("unknown: {name}"),
        _ => "unknown".to_owned(),
    }
}

/// The report for people.
fn text(report: &StoreReport<'_>, console: &Console) -> String {
    let what = match report.format {
        "ctable" => "Blosc2 table in a store".to_owned(),
        "parquet" => "Parquet file, a table".to_owned(),
        "b2d" => format!("Blosc2 store in a directory, {}", report.kind),
        "b2e" => format!("Blosc2 store, {}", report.kind),
        _ => format!("Blosc2 store in an archive, {}", report.kind),
    };
    let mut lines = Lines::new(console, report.path, &what);
    let units = lines.units;
    if let Some(table) = &report.table {
        lines.table(table);
    } else {
        lines.members(report, console.verbose() > 0, units);
    }
    if report.nbytes > 0 {
        lines.add("size", &sizes(report.nbytes, report.cbytes, units));
    }
    if let Some(dead @ 1..) = report.dead_bytes {
        lines.add("dead", &units.size(dead).to_string());
    }
    for (name, value) in &report.attributes {
        lines.add("attribute", &format!("{name}: {value}"));
    }
    lines.notes(&report.warnings, &report.problems);
    lines.text
}

impl Lines {
    fn members(&mut self, report: &StoreReport<'_>, is_verbose: bool, units: Units) {
        let mut kinds: Vec<(&str, u64)> = vec![];
        for member in &report.members {
            match kinds.iter_mut().find(|(kind, _)| *kind == member.kind) {
                Some((_, count)) => *count += 1,
                None => kinds.push((member.kind, 1)),
            }
        }
        let counts: Vec<String> =
            kinds.iter().map(|(kind, count)| format!("{} {kind}", size::count(*count))).collect();
        self.add(
            "values",
            if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }.as_str(),
        );
        let shown = if is_verbose { usize::MAX } else { MAX_LISTED };
        for member in report.members.iter().filter(|member| member.kind != "group").take(shown) {
            self.add(&member.key, &member.text(units));
        }
        if report.members.len() > shown {
            self.add("...", "-v shows all");
        }
    }

    fn table(&mut self, table: &TableReport) {
        self.add("rows", &size::count(table.rows));
        if let spare @ 1.. = table.capacity.saturating_sub(table.rows) {
            let (all, spare) = (size::count(table.capacity), size::count(spare));
            self.add("capacity", &format!("{all} rows     {spare} deleted or spare"));
        }
        for column in &table.columns {
            let nulls = match column.nulls {
                "none" => String::new(),
                how => format!(", nulls by {how}"),
            };
            let computed = column.expression.as_ref().map(|it| format!(" = {it}, not computed"));
            let index = column.index.as_ref().map(|it| format!(", index {it}")).unwrap_or_default();
            let text = format!("{}{nulls}{}{index}", column.kind, computed.unwrap_or_default());
            self.add(&column.name, &text);
        }
    }
}
