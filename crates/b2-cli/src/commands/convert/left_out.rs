//! What a format has no place for is told, and columns of Python objects are left out.

use bcolz_store::{Column, DataSet};

use super::{Work, frame, source::Source};
use crate::{args::ConvertedFormat, error::Result, inputs::Object};

impl Work<'_> {
    /// All that raw data have no place for.
    pub(super) fn all_but_data(&self) -> Result<Vec<String>> {
        let array = self.source.layout()?.map(|_| frame::ARRAY.to_owned());
        Ok(self.source.metadata()?.without_array().names().into_iter().chain(array).collect())
    }

    /// Warns of what the output does not hold.
    pub(super) fn tell_left_out(&self, left_out: &[String]) {
        // Raw data have no metadata anyway.
        let (array, others): (Vec<&String>, Vec<&String>) =
            left_out.iter().partition(|what| *what == frame::ARRAY);
        let (console, name) = (&self.cx.console, self.origin.name());
        match self.format {
            _ if array.is_empty() => {}
            ConvertedFormat::Raw => {}
            ConvertedFormat::B2frame | ConvertedFormat::Sframe => {
                let text = "without shape and type of the array: a .b2nd file keeps them, also \
                            when it is converted further";
                console.warning(&name, text);
            }
            format => {
                let text = format!("no room for {} in a .{} file", frame::ARRAY, format.name());
                console.warning(&name, &text);
            }
        }
        if !others.is_empty() {
            let text = format!("no room for {} in a .{} file", listed(&others), self.format.name());
            console.warning(&name, &text);
        }
    }
}

/// What is left out, in one line: `the metalayers `a`, `b``, where each has a line of its own.
pub(super) fn listed(what: &[&String]) -> String {
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

/// A table without the columns of Python objects, where the format has no place for them, and their
/// names.
pub(super) fn without_objects(
    source: Source,
    format: ConvertedFormat,
) -> Result<(Source, Vec<String>)> {
    let keeps = matches!(
        format,
        ConvertedFormat::Carray
            | ConvertedFormat::Ctable
            | ConvertedFormat::B2z
            | ConvertedFormat::B2d
            | ConvertedFormat::Parquet
    );
    let Source::Object(Object::Bcolz(set)) = source else { return Ok((source, vec![])) };
    let DataSet::CTable(table) = &set.set else {
        return Ok((Source::Object(Object::Bcolz(set)), vec![]));
    };
    let (objects, others): (Vec<_>, Vec<_>) =
        table.columns().iter().partition(|column| column.array.is_object());
    let name = |column: &Column| column.name.clone();
    let (objects, others): (Vec<_>, Vec<_>) =
        (objects.into_iter().map(name).collect(), others.into_iter().map(name).collect());
    if keeps || objects.is_empty() || others.is_empty() {
        return Ok((Source::Object(Object::Bcolz(set)), vec![]));
    }
    let set = set.select(&others)?;
    Ok((Source::Object(Object::Bcolz(Box::new(set))), objects))
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
