//! Attributes as JSON, and the names of the dimensions.

use hdf5_blosc::datatype::ItemType;
use hdf5_reader::group::Group;
use hdf5_reader::{Attribute, Dataset, Datatype, RawAttribute, VarLenKind};
use serde_json::{Map, Value};

/// Attributes of dimension scales, which are references; their names become `_ARRAY_DIMENSIONS`.
const SCALES: [&str; 2] = ["DIMENSION_LIST", "REFERENCE_LIST"];

/// Attributes that JSON has values for, and the names of the others.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub(super) values: Map<String, Value>,
    pub(super) lost: Vec<String>,
}

impl Attributes {
    pub(super) fn of_dataset(dataset: &Dataset) -> Self {
        Self::new(&dataset.attributes(), &dataset.raw_attributes().unwrap_or_default())
    }

    pub(super) fn of_group(group: &Group) -> Self {
        match (group.attributes(), group.raw_attributes()) {
            (Ok(attributes), Ok(raw)) => Self::new(&attributes, &raw),
            (Err(error), _) | (_, Err(error)) => {
                Self { lost: vec![format!("all: {error}")], ..Self::default() }
            }
        }
    }

    fn new(attributes: &[Attribute], raw: &[RawAttribute]) -> Self {
        let mut found = Self::default();
        for attribute in attributes {
            let raw = raw.iter().find(|raw| raw.name() == attribute.name);
            match raw.and_then(|raw| value_of(attribute, raw)) {
                Some(value) => drop(found.values.insert(attribute.name.clone(), value)),
                None if SCALES.contains(&attribute.name.as_str()) => {}
                None => found.lost.push(attribute.name.clone()),
            }
        }
        found
    }

    /// The losses of a group, in words.
    pub(super) fn lost_of(&self, group: &str) -> Vec<String> {
        self.lost.iter().map(|name| format!("the attribute `{name}` of {group}")).collect()
    }
}

fn value_of(attribute: &Attribute, raw: &RawAttribute) -> Option<Value> {
    let is_text = match &attribute.datatype {
        Datatype::String { .. } => true,
        Datatype::VarLen { kind, .. } => *kind == VarLenKind::String,
        _ => false,
    };
    let values: Vec<Value> = match is_text {
        true => attribute.read_strings().ok()?.into_iter().map(Value::from).collect(),
        false => numbers(raw)?,
    };
    let count = attribute.num_elements().ok()?;
    (u64::try_from(values.len()) == Ok(count))
        .then(|| nested(&mut values.into_iter(), &attribute.shape))
        .flatten()
}

/// Values in lists of lists, according to the shape.
fn nested(values: &mut impl Iterator<Item = Value>, shape: &[u64]) -> Option<Value> {
    let Some((len, inner)) = shape.split_first() else { return values.next() };
    (0..*len).map(|_| nested(values, inner)).collect::<Option<_>>().map(Value::Array)
}

/// The numbers of an attribute; `None` for another type.
fn numbers(raw: &RawAttribute) -> Option<Vec<Value>> {
    let item = ItemType::parse(raw.raw_datatype()).ok()?;
    let stored = &raw.message().raw_data;
    let count = stored.len().checked_div(item.stored_nbytes())?;
    let mut bytes = vec![0; count.checked_mul(item.nbytes())?];
    item.convert(stored, &mut bytes);
    let (order, kind) = item.numpy().split_at_checked(1)?;
    bytes.chunks_exact(item.nbytes().max(1)).map(|item| number(order, kind, item)).collect()
}

/// A number of NumPy's type `kind` (`i4`).
fn number(order: &str, kind: &str, item: &[u8]) -> Option<Value> {
    let mut item = item.to_vec();
    if order == ">" {
        item.reverse();
    }
    let is_negative = kind.starts_with('i') && item.last().is_some_and(|byte| *byte >= 0x80);
    let mut wide = [if is_negative { 0xff } else { 0 }; 8];
    wide.get_mut(..item.len())?.copy_from_slice(&item);
    let word = u64::from_le_bytes(wide);
    Some(match kind {
        "b1" => Value::from(word != 0),
        "i1" | "i2" | "i4" | "i8" => Value::from(word.cast_signed()),
        "u1" | "u2" | "u4" | "u8" => Value::from(word),
        "f2" => float(half(u16::try_from(word).ok()?)),
        "f4" => float(f64::from(f32::from_bits(u32::try_from(word).ok()?))),
        "f8" => float(f64::from_bits(word)),
        _ => return None,
    })
}

fn half(bits: u16) -> f64 {
    let exponent = i32::from((bits >> 10) & 0x1f);
    let mantissa = f64::from(bits & 0x3ff);
    let value = match exponent {
        0 => mantissa * 2_f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (mantissa + 1024.0) * 2_f64.powi(exponent.saturating_sub(25)),
    };
    if bits >> 15 == 0 { value } else { -value }
}

/// JSON has no numbers for NaN and infinity.
fn float(value: f64) -> Value {
    let text = match value {
        _ if value.is_finite() => return Value::from(value),
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "Infinity",
        _ => "-Infinity",
    };
    Value::from(text)
}

/// The names of the dimensions: the names of the scales (the dimensions of netCDF), else the
/// labels.
pub(super) fn dimension_names(root: &Group, key: &str, dataset: &Dataset) -> Vec<Option<String>> {
    let parents = parents(root, key);
    let own = key.rsplit('/').next().unwrap_or(key);
    let texts = |name: &str| dataset.attribute(name).ok()?.read_strings().ok();
    let is_scale = texts("CLASS").is_some_and(|texts| texts == ["DIMENSION_SCALE"]);
    if is_scale && dataset.ndim() == 1 {
        return vec![Some(own.to_owned())];
    }
    let raw = dataset.raw_attributes().unwrap_or_default();
    let list = raw.iter().find(|raw| raw.name() == "DIMENSION_LIST");
    let scales = list.map_or(&[][..], |list| list.message().raw_data.as_slice());
    let mut scales = scales.chunks_exact(dataset.vlen_reference_size().max(1));
    let labels = texts("DIMENSION_LABELS").unwrap_or_default();
    let name = |n: usize| {
        let scale = scales.next().and_then(|scale| scale_name(root, &parents, dataset, scale));
        scale.or_else(|| labels.get(n).filter(|label| !label.is_empty()).cloned())
    };
    (0..dataset.ndim()).map(name).collect()
}

/// The groups that a data set is in, the innermost first.
fn parents(root: &Group, key: &str) -> Vec<Group> {
    let mut parents = vec![root.clone()];
    let mut names: Vec<&str> = key.split('/').collect();
    names.pop();
    for name in names {
        match parents.last().map(|group| group.group(name)) {
            Some(Ok(group)) => parents.push(group),
            _ => break,
        }
    }
    parents.reverse();
    parents
}

/// The name of the first scale of a dimension, which is in one of the groups.
fn scale_name(
    root: &Group,
    parents: &[Group],
    dataset: &Dataset,
    reference: &[u8],
) -> Option<String> {
    let size = usize::from(root.offset_size());
    let scales = dataset.resolve_vlen_reference_bytes(reference, size).ok()?;
    let address = scales.get(..size).filter(|_| size <= 8)?;
    let mut wide = [0; 8];
    wide.get_mut(..size)?.copy_from_slice(address);
    let address = u64::from_le_bytes(wide);
    parents.iter().find_map(|group| group.child_name_by_address(address).ok()?)
}
