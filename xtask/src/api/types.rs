//! Types, bounds and generic parameters of rustdoc's JSON, as Rust writes them.

use serde_json::Value;

/// The text of a string; empty for anything else.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The values of a list; none for anything else.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// An enum's variant and its content: a string, or an object with one key.
pub(super) fn variant(value: &Value) -> (&str, &Value) {
    match value {
        Value::Object(fields) => {
            fields.iter().next().map_or(("", &Value::Null), |(name, content)| (name, content))
        }
        other => (text(other), &Value::Null),
    }
}

fn joined(values: &Value, separator: &str, render: fn(&Value) -> String) -> String {
    list(values).map(render).collect::<Vec<_>>().join(separator)
}

/// A type.
pub(super) fn render(value: &Value) -> String {
    let (kind, content) = variant(value);
    match kind {
        "resolved_path" => path(content),
        "generic" => text(content).to_owned(),
        "primitive" if text(content) == "never" => "!".to_owned(),
        "primitive" => text(content).to_owned(),
        "infer" => "_".to_owned(),
        "tuple" if list(content).count() == 1 => format!("({},)", joined(content, "", render)),
        "tuple" => format!("({})", joined(content, ", ", render)),
        "slice" => format!("[{}]", render(content)),
        "array" => format!("[{}; {}]", render(&content["type"]), text(&content["len"])),
        "borrowed_ref" => reference(content),
        "raw_pointer" if content["is_mutable"] == true => {
            format!("*mut {}", render(&content["type"]))
        }
        "raw_pointer" => format!("*const {}", render(&content["type"])),
        "impl_trait" => format!("impl {}", bounds(content)),
        "dyn_trait" => dynamic(content),
        "function_pointer" => {
            let sig = &content["sig"];
            let quantified = quantifier(&content["generic_params"]);
            format!("{quantified}{}fn({}){}", qualifiers(content), inputs(sig), output(sig))
        }
        "qualified_path" => projection(content),
        _ => value.to_string(),
    }
}

fn reference(content: &Value) -> String {
    let lifetime = match text(&content["lifetime"]) {
        "" => String::new(),
        name => format!("{name} "),
    };
    let is_mutable = if content["is_mutable"] == true { "mut " } else { "" };
    let target = render(&content["type"]);
    match target.starts_with("dyn ") && target.contains(" + ") {
        true => format!("&{lifetime}{is_mutable}({target})"),
        false => format!("&{lifetime}{is_mutable}{target}"),
    }
}

fn dynamic(content: &Value) -> String {
    let traits = joined(&content["traits"], " + ", poly_trait);
    match text(&content["lifetime"]) {
        "" => format!("dyn {traits}"),
        lifetime => format!("dyn {traits} + {lifetime}"),
    }
}

fn projection(content: &Value) -> String {
    let (own, name) = (render(&content["self_type"]), text(&content["name"]));
    let name = format!("{name}{}", arguments(&content["args"]));
    match text(&content["trait"]["path"]) {
        "" => format!("{own}::{name}"),
        _ => format!("<{own} as {}>::{name}", path(&content["trait"])),
    }
}

/// A path of a type or a trait with its arguments. rustdoc writes it as the source does.
pub(super) fn path(content: &Value) -> String {
    let name = text(&content["path"]).trim_start_matches("$crate::");
    format!("{name}{}", arguments(&content["args"]))
}

fn arguments(value: &Value) -> String {
    let (kind, content) = variant(value);
    match kind {
        "angle_bracketed" => {
            let given = list(&content["args"]).map(argument);
            let all: Vec<String> =
                given.chain(list(&content["constraints"]).map(constraint)).collect();
            if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
        }
        "parenthesized" => {
            format!("({}){}", joined(&content["inputs"], ", ", render), output(content))
        }
        _ => String::new(),
    }
}

fn argument(value: &Value) -> String {
    let (kind, content) = variant(value);
    match kind {
        "lifetime" => text(content).to_owned(),
        "type" => render(content),
        "const" | "constant" => text(&content["expr"]).to_owned(),
        _ => "_".to_owned(),
    }
}

fn constraint(value: &Value) -> String {
    let name = format!("{}{}", text(&value["name"]), arguments(&value["args"]));
    let (kind, content) = variant(&value["binding"]);
    match kind {
        "equality" => format!("{name} = {}", argument(content)),
        _ => format!("{name}: {}", bounds(content)),
    }
}

/// Bounds after a colon, if there are any.
pub(super) fn limited(bounds: &str) -> String {
    if bounds.is_empty() { String::new() } else { format!(": {bounds}") }
}

/// Lifetimes that another one outlives, between plus signs.
fn outlives(content: &Value) -> String {
    joined(&content["outlives"], " + ", |name| text(name).to_owned())
}

/// Bounds between plus signs.
pub(super) fn bounds(values: &Value) -> String {
    joined(values, " + ", bound)
}

fn bound(value: &Value) -> String {
    let (kind, content) = variant(value);
    match kind {
        "trait_bound" => {
            let modifier = match text(&content["modifier"]) {
                "maybe" => "?",
                "maybe_const" => "~const ",
                _ => "",
            };
            format!("{modifier}{}", poly_trait(content))
        }
        "outlives" => text(content).to_owned(),
        "use" => format!("use<{}>", joined(content, ", ", |name| text(variant(name).1).to_owned())),
        _ => value.to_string(),
    }
}

fn poly_trait(value: &Value) -> String {
    format!("{}{}", quantifier(&value["generic_params"]), path(&value["trait"]))
}

/// `for<'a> `, if there are lifetimes.
fn quantifier(params: &Value) -> String {
    match joined(params, ", ", |param| text(&param["name"]).to_owned()) {
        names if names.is_empty() => names,
        names => format!("for<{names}> "),
    }
}

/// `const unsafe extern "C" `, as far as it is said.
pub(super) fn qualifiers(content: &Value) -> String {
    let header = &content["header"];
    let mut said = String::new();
    for (key, word) in [("is_const", "const "), ("is_async", "async "), ("is_unsafe", "unsafe ")] {
        said += if header[key] == true { word } else { "" };
    }
    match variant(&header["abi"]) {
        ("Rust" | "", _) => {}
        (abi, _) => said += &format!("extern \"{abi}\" "),
    }
    said
}

/// The parameters of a function, with `self` as it is usually written.
pub(super) fn inputs(sig: &Value) -> String {
    let input = |pair: &Value| {
        let (name, kind) = (text(&pair[0]), render(&pair[1]));
        match (name, kind.as_str()) {
            ("self", "Self") => "self".to_owned(),
            ("self", "&Self") => "&self".to_owned(),
            ("self", "&mut Self") => "&mut self".to_owned(),
            _ => format!("{name}: {kind}"),
        }
    };
    list(&sig["inputs"]).map(input).collect::<Vec<_>>().join(", ")
}

/// ` -> T`, unless it is the unit.
pub(super) fn output(sig: &Value) -> String {
    if sig["output"].is_null() { String::new() } else { format!(" -> {}", render(&sig["output"])) }
}

/// The parameters in angle brackets; those that stand for `impl Trait` are in the types.
pub(super) fn parameters(generics: &Value) -> String {
    let params = list(&generics["params"]).filter_map(parameter).collect::<Vec<_>>().join(", ");
    if params.is_empty() { params } else { format!("<{params}>") }
}

fn parameter(param: &Value) -> Option<String> {
    let name = text(&param["name"]);
    let (kind, content) = variant(&param["kind"]);
    let limits = match kind {
        "type" if content["is_synthetic"] == true => return None,
        "type" => bounds(&content["bounds"]),
        "lifetime" => outlives(content),
        _ => render(&content["type"]),
    };
    let begin = if kind == "const" { "const " } else { "" };
    let limits = limited(&limits);
    let default = match &content["default"] {
        Value::Null => String::new(),
        Value::String(value) => format!(" = {value}"),
        default => format!(" = {}", render(default)),
    };
    Some(format!("{begin}{name}{limits}{default}"))
}

/// ` where ...`, if there are conditions.
pub(super) fn conditions(generics: &Value) -> String {
    match joined(&generics["where_predicates"], ", ", condition) {
        none if none.is_empty() => none,
        conditions => format!(" where {conditions}"),
    }
}

fn condition(value: &Value) -> String {
    let (kind, content) = variant(value);
    match kind {
        "bound_predicate" => {
            let quantified = quantifier(&content["generic_params"]);
            format!("{quantified}{}: {}", render(&content["type"]), bounds(&content["bounds"]))
        }
        "lifetime_predicate" => {
            format!("{}: {}", text(&content["lifetime"]), outlives(content))
        }
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_written_as_in_sources() {
        let u8_ = json!({ "primitive": "u8" });
        for (value, expected) in [
            (json!({ "tuple": [u8_] }), "(u8,)"),
            (json!({ "tuple": [] }), "()"),
            (json!({ "array": { "type": u8_, "len": "4" } }), "[u8; 4]"),
            (json!({ "primitive": "never" }), "!"),
            (json!({ "raw_pointer": { "is_mutable": false, "type": u8_ } }), "*const u8"),
            (
                json!({ "borrowed_ref": {
                    "lifetime": "'a", "is_mutable": true, "type": { "slice": u8_ },
                } }),
                "&'a mut [u8]",
            ),
            (
                json!({ "resolved_path": { "path": "$crate::Vec", "args": { "angle_bracketed": {
                    "args": [{ "type": u8_ }],
                    "constraints": [
                        { "name": "Item", "args": null, "binding": { "equality": { "type": u8_ } } },
                    ],
                } } } }),
                "Vec<u8, Item = u8>",
            ),
            (
                json!({ "dyn_trait": { "lifetime": "'static", "traits": [{
                    "trait": { "path": "Fn", "args": { "parenthesized": {
                        "inputs": [u8_], "output": u8_,
                    } } },
                    "generic_params": [{ "name": "'b" }],
                }] } }),
                "dyn for<'b> Fn(u8) -> u8 + 'static",
            ),
            (
                json!({ "borrowed_ref": { "lifetime": null, "is_mutable": false, "type": {
                    "dyn_trait": { "lifetime": null, "traits": [
                        { "trait": { "path": "A", "args": null }, "generic_params": [] },
                        { "trait": { "path": "B", "args": null }, "generic_params": [] },
                    ] },
                } } }),
                "&(dyn A + B)",
            ),
            (
                json!({ "qualified_path": {
                    "name": "Out", "args": null, "self_type": { "generic": "T" },
                    "trait": { "path": "Tr", "args": null },
                } }),
                "<T as Tr>::Out",
            ),
        ] {
            assert_eq!(render(&value), expected);
        }
    }

    #[test]
    fn parameters_have_their_bounds_and_conditions() {
        let bound = |name: &str, modifier: &str| {
            json!({ "trait_bound": {
                "trait": { "path": name, "args": null }, "generic_params": [], "modifier": modifier,
            } })
        };
        let generics = json!({
            "params": [
                { "name": "'a", "kind": { "lifetime": { "outlives": [] } } },
                { "name": "T", "kind": { "type": {
                    "bounds": [bound("Clone", "none")], "default": null, "is_synthetic": false,
                } } },
                { "name": "N", "kind": { "const": {
                    "type": { "primitive": "usize" }, "default": "3",
                } } },
                { "name": "impl Tr", "kind": { "type": {
                    "bounds": [], "default": null, "is_synthetic": true,
                } } },
            ],
            "where_predicates": [{ "bound_predicate": {
                "type": { "generic": "T" }, "bounds": [bound("Sized", "maybe")], "generic_params": [],
            } }],
        });
        assert_eq!(parameters(&generics), "<'a, T: Clone, const N: usize = 3>");
        assert_eq!(conditions(&generics), " where T: ?Sized");
    }
}
