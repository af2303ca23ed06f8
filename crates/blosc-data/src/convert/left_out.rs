//! What a format has no place for.

use bcolz_store::{Column, DataSet};

use super::{Conversion, OutputFormat, frame};
use crate::content::{Content, Object};
use crate::error::Result;

impl Conversion<'_> {
    /// All that raw data have no place for.
    pub(super) fn all_but_data(&self) -> Result<Vec<String>> {
        let array = self.content.layout()?.map(|_| frame::ARRAY.to_owned());
        Ok(self.content.metadata()?.without_array().names().into_iter().chain(array).collect())
    }

    /// The parts of a table that this format loses.
    ///
    /// # Errors
    ///
    /// Attributes that cannot be read.
    pub fn lost_of_table(&self) -> Result<Vec<String>> {
        let rows = self.lost_of_rows()?;
        Ok(self.lost_of_columns().into_iter().chain(rows).collect())
    }

    /// The parts of the rows of a store's table that this format loses.
    ///
    /// # Errors
    ///
    /// Attributes that cannot be read.
    pub fn lost_of_rows(&self) -> Result<Vec<String>> {
        let Some(rows) = self.content.rows() else { return Ok(self.content.lost()) };
        let (mut lost, format) = (vec![], self.settings.format);
        let computed = rows.table().schema().computed.iter();
        let keeps_cells = matches!(
            format,
            OutputFormat::Csv | OutputFormat::Parquet | OutputFormat::B2z | OutputFormat::B2d
        );
        let is_copy = format.is_store() && self.is_copy(rows);
        if !is_copy && !rows.is_column() {
            lost.extend(computed.map(|column| format!("the computed column `{}`", column.name)));
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
    /// A table without the columns of Python objects, where the format has no place for them; and
    /// the names of these columns.
    ///
    /// # Errors
    ///
    /// Columns that cannot be opened.
    pub fn without_objects(self, format: OutputFormat) -> Result<(Self, Vec<String>)> {
        let keeps = matches!(format, OutputFormat::B2z | OutputFormat::B2d | OutputFormat::Parquet);
        let Self::Object(Object::Bcolz(set)) = self else { return Ok((self, vec![])) };
        let DataSet::CTable(table) = &set.set else {
            return Ok((Self::Object(Object::Bcolz(set)), vec![]));
        };
        let (objects, others): (Vec<_>, Vec<_>) =
            table.columns().iter().partition(|column| column.array.is_object());
        let name = |column: &Column| column.name.clone();
        let (objects, others): (Vec<_>, Vec<_>) =
            (objects.into_iter().map(name).collect(), others.into_iter().map(name).collect());
        if keeps || objects.is_empty() || others.is_empty() {
            return Ok((Self::Object(Object::Bcolz(set)), vec![]));
        }
        let set = set.select(&others)?;
        Ok((Self::Object(Object::Bcolz(Box::new(set))), objects))
    }
}
