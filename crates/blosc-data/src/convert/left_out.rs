//! Properties of content that a format cannot hold.

use b2store::NewColumn;
use bcolz_store::{CTableWriter, Column, DataSet};
use blosc_dtype::{Dtype, Field};
use blosc_io::replace::Unfinished;

use super::{Conversion, OutputFormat, frame, selection::of_items, selection::select};
use crate::columns::Rule;
use crate::content::{Content, Object, TableRows};
use crate::error::Result;
use crate::params::OpenOptions;

/// The words for the lost index of a column: a copy of a table has none.
pub const INDEX: &str = "the index of column";

impl Conversion<'_> {
    /// Everything that raw data cannot hold.
    pub(super) fn all_but_data(&self) -> Result<Vec<String>> {
        let array = self.content.layout()?.map(|_| frame::ARRAY.to_owned());
        Ok(self.content.metadata()?.without_array().names().into_iter().chain(array).collect())
    }

    /// The parts of a table that the format loses.
    ///
    /// # Errors
    ///
    /// Attributes that cannot be read.
    pub fn lost_of_table(&self) -> Result<Vec<String>> {
        Ok(self.lost_of_columns().into_iter().chain(self.lost_of_rows()?).collect())
    }

    /// The parts of the rows of a store's table that the format loses.
    ///
    /// # Errors
    ///
    /// Attributes that cannot be read.
    pub fn lost_of_rows(&self) -> Result<Vec<String>> {
        let dropped = self.dropped.iter().map(|name| format!("the column `{name}`"));
        let (mut lost, format): (Vec<String>, _) = (dropped.collect(), self.settings.format);
        let Some(rows) = self.content.rows() else {
            lost.extend(self.content.lost());
            return Ok(lost);
        };
        let computed = rows.table().schema().computed.iter();
        let keeps_cells = matches!(
            format,
            OutputFormat::Csv | OutputFormat::Parquet | OutputFormat::B2z | OutputFormat::B2d
        );
        let is_copy = format.is_store() && self.is_copy(rows);
        if !is_copy && !rows.is_column() {
            lost.extend(computed.map(|column| format!("the computed column `{}`", column.name)));
        }
        if format.is_store() && !rows.is_column() {
            let indexed = rows.table().indexed_columns()?;
            lost.extend(indexed.iter().map(|name| format!("{INDEX} `{name}`")));
        }
        if !keeps_cells {
            let named = |what: &str, names: Vec<String>| -> Vec<String> {
                names.iter().map(|name| format!("the {what} `{name}`")).collect()
            };
            lost.extend(named("nulls of column", rows.lost_nulls()));
            lost.extend(named("kind of column", rows.retyped()));
            lost.extend(named("type of attribute", rows.retyped_attributes()?));
        }
        if format == OutputFormat::Parquet && !rows.is_column() {
            lost.extend(self.content.metadata()?.names());
        }
        Ok(lost)
    }
}

impl Content {
    /// The table without columns that the format cannot hold: of objects, or with an impossible
    /// name. The second value names these columns. The budget of `open` limits the reading of
    /// those that are kept.
    ///
    /// # Errors
    ///
    /// Columns that cannot be opened or read.
    pub fn fitted(self, format: OutputFormat, open: &OpenOptions) -> Result<(Self, Vec<String>)> {
        let is_bcolz = matches!(format, OutputFormat::Carray | OutputFormat::Ctable);
        let keeps_objects =
            matches!(format, OutputFormat::B2z | OutputFormat::B2d | OutputFormat::Parquet);
        let keeps_cells = keeps_objects || format == OutputFormat::Csv;
        // A format has every name of its own tables.
        let has_name = |name: &str, is_own: bool| match format {
            _ if is_own => true,
            OutputFormat::B2z | OutputFormat::B2d => NewColumn::can_be_called(name),
            _ => !is_bcolz || CTableWriter::can_have(name),
        };
        // Stores have no column for every type, such as fields within fields.
        let has_kind = |name: &str, dtype: &Dtype, inner: &[u64]| {
            !format.is_store() || Rule::of_items(name, dtype, inner).is_ok()
        };
        let of_field = |it: &Field| {
            let (item, inner) = it.dtype().subarray().unwrap_or((it.dtype(), &[]));
            let fits = has_name(it.name(), false) && has_kind(it.name(), item, inner);
            (it.name().to_owned(), fits)
        };
        let columns: Vec<(String, bool)> = match &self {
            Self::Object(Object::Bcolz(set)) => match &set.set {
                DataSet::CTable(table) => {
                    let column = |it: &Column| {
                        let inner = it.array.shape().get(1..).unwrap_or_default();
                        let has_place = match it.array.is_object() {
                            true => keeps_objects,
                            false => has_kind(&it.name, it.array.dtype(), inner),
                        };
                        (it.name.clone(), has_place && has_name(&it.name, is_bcolz))
                    };
                    table.columns().iter().map(column).collect()
                }
                DataSet::CArray(_) => vec![],
            },
            Self::Object(Object::Table(rows)) if !rows.is_column() => {
                let column = |it: &b2store::Column| {
                    let name = it.spec().name.clone();
                    let has_place = keeps_cells || !TableRows::lacks_dtype(it);
                    let is_called = has_name(&name, format.is_store());
                    (name, has_place && is_called)
                };
                rows.columns().iter().map(column).collect()
            }
            Self::Items(items) if items.stored.shape.len() == 1 => {
                items.dtype.fields().iter().map(of_field).collect()
            }
            other if format.is_store() => match other.layout()? {
                Some(layout) if layout.shape.len() == 1 => {
                    layout.dtype.fields().iter().map(of_field).collect()
                }
                _ => vec![],
            },
            _ => vec![],
        };
        let (kept, dropped): (Vec<_>, Vec<_>) = columns.into_iter().partition(|(_, fits)| *fits);
        let names = |columns: Vec<(String, bool)>| columns.into_iter().map(|it| it.0).collect();
        let (kept, dropped): (Vec<String>, Vec<String>) = (names(kept), names(dropped));
        if kept.is_empty() || dropped.is_empty() {
            return Ok((self, vec![]));
        }
        let fitted = match self {
            Self::Object(Object::Bcolz(set)) => {
                Self::Object(Object::Bcolz(Box::new(set.select(&kept)?)))
            }
            Self::Object(Object::Table(rows)) => {
                Self::Object(Object::Table(Box::new(rows.select(&kept)?)))
            }
            Self::Items(items) => Self::Items(of_items(&items, &kept, None, &open.budget)?),
            other => select(other, &kept, None, open, &Unfinished::default())?,
        };
        Ok((fitted, dropped))
    }
}

/// All losses in one line, as `the metalayers `a`, `b``.
#[must_use]
pub fn listed(what: &[&String]) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = vec![];
    for text in what {
        let (kind, name) = text.split_at(text.find('`').unwrap_or(text.len()));
        match groups.last_mut() {
            Some((known, names)) if *known == kind && !name.is_empty() => names.push(name),
            _ => groups.push((kind, vec![name])),
        }
    }
    let text = |(kind, names): &(&str, Vec<&str>)| match names[..] {
        [name] => format!("{kind}{name}"),
        _ => format!("{}s {}", kind.trim_end(), names.join(", ")),
    };
    groups.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_kind_stand_together() {
        let what = ["the metalayer `a`", "the metalayer `b`", "the shape", "the column `c`"];
        let what = what.map(str::to_owned);
        let text = "the metalayers `a`, `b`, the shape, the column `c`";
        assert_eq!(listed(&what.iter().collect::<Vec<_>>()), text);
    }
}
