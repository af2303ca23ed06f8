//! The public items of a crate in rustdoc's JSON, a line for each.

use serde_json::Value;

use super::types::{
    bounds, conditions, inputs, limited, list, output, parameters, path, qualifiers, render, text,
    variant,
};

/// The lines of a crate, sorted, each once.
pub(super) fn lines(document: &Value, name: &str) -> Vec<String> {
    let mut walk = Walk { index: &document["index"], open: Vec::new(), lines: Vec::new() };
    walk.add_module(&document["root"], name);
    let mut lines = walk.lines;
    lines.sort();
    lines.dedup();
    lines
}

struct Walk<'a> {
    index: &'a Value,
    /// The modules that enclose the present one: re-exports may form a circle.
    open: Vec<&'a Value>,
    lines: Vec<String>,
}

impl<'a> Walk<'a> {
    /// The item of a number; `Null` if it is not public or of another crate.
    fn item(&self, id: &Value) -> &'a Value {
        &self.index[id.to_string().as_str()]
    }

    fn add_module(&mut self, id: &'a Value, place: &str) {
        if self.open.contains(&id) {
            return;
        }
        self.open.push(id);
        let (_, module) = variant(&self.item(id)["inner"]);
        for id in list(&module["items"]) {
            self.add(id, place, None);
        }
        self.open.pop();
    }

    /// Adds an item of the module at `place`, under its own name or that of a re-export.
    fn add(&mut self, id: &'a Value, place: &str, name: Option<&str>) {
        let item = self.item(id);
        let (kind, content) = variant(&item["inner"]);
        let place = format!("{place}::{}", name.unwrap_or_else(|| text(&item["name"])));
        let generics = &content["generics"];
        let (params, end) = (parameters(generics), conditions(generics));
        let marked = marks(item);
        match kind {
            "module" => {
                self.lines.push(format!("{marked}mod {place}"));
                self.add_module(id, &place);
            }
            "use" => self.add_use(content, place.rsplit_once("::").map_or("", |(place, _)| place)),
            "struct" | "union" => {
                self.lines.push(format!("{marked}{kind} {place}{params}{end}"));
                self.add_fields(content, &place);
                self.add_impls(content, &place);
            }
            "enum" => {
                self.lines.push(format!("{marked}enum {place}{params}{end}"));
                list(&content["variants"]).for_each(|id| self.add_variant(id, &place));
                self.add_impls(content, &place);
            }
            "trait" => {
                let begin = if content["is_unsafe"] == true { "unsafe " } else { "" };
                let above = limited(&bounds(&content["bounds"]));
                self.lines.push(format!("{marked}{begin}trait {place}{params}{above}{end}"));
                list(&content["items"]).for_each(|id| self.add_member(id, &place));
                list(&content["implementations"]).for_each(|id| self.add_impl(id, &place));
            }
            "type_alias" => {
                let target = render(&content["type"]);
                self.lines.push(format!("{marked}type {place}{params} = {target}{end}"));
            }
            "constant" => {
                self.lines.push(format!("{marked}const {place}: {}", render(&content["type"])));
            }
            "static" => {
                self.lines.push(format!("{marked}static {place}: {}", render(&content["type"])));
            }
            "macro" => {
                let rules = text(content).split_whitespace().collect::<Vec<_>>().join(" ");
                self.lines.push(format!("{marked}macro {place}: {rules}"));
            }
            "proc_macro" => self.lines.push(format!("{marked}macro {place}")),
            "function" => self.add_function(content, &place, &marked),
            _ => self.lines.push(format!("{marked}{kind} {place}")),
        }
    }

    fn add_function(&mut self, content: &Value, place: &str, marked: &str) {
        let (sig, generics) = (&content["sig"], &content["generics"]);
        let (begin, params) = (qualifiers(content), parameters(generics));
        let (inputs, output, end) = (inputs(sig), output(sig), conditions(generics));
        self.lines.push(format!("{marked}{begin}fn {place}{params}({inputs}){output}{end}"));
    }

    /// A re-export: the item itself if it is of this crate, otherwise the path in the other one.
    fn add_use(&mut self, content: &'a Value, place: &str) {
        let (source, name) = (text(&content["source"]), text(&content["name"]));
        let is_ours = !self.item(&content["id"]).is_null();
        match (content["is_glob"] == true, is_ours) {
            (true, true) => self.add_module(&content["id"], place),
            (true, false) => self.lines.push(format!("use {source}::* in {place}")),
            (false, true) => self.add(&content["id"], place, Some(name)),
            (false, false) => self.lines.push(format!("use {source} as {place}::{name}")),
        }
    }

    fn add_fields(&mut self, content: &Value, place: &str) {
        let (kind, of_kind) = variant(&content["kind"]);
        let fields = match kind {
            "plain" => &of_kind["fields"],
            "tuple" => of_kind,
            _ => &content["fields"],
        };
        for id in list(fields).filter(|id| !id.is_null()) {
            let field = self.item(id);
            let (name, kind) = (text(&field["name"]), render(variant(&field["inner"]).1));
            self.lines.push(format!("field {place}::{name}: {kind}"));
        }
    }

    fn add_variant(&mut self, id: &Value, place: &str) {
        let item = self.item(id);
        let (_, content) = variant(&item["inner"]);
        let (kind, of_kind) = variant(&content["kind"]);
        let kind_of = |id: &Value| match id {
            Value::Null => "_".to_owned(),
            id => render(variant(&self.item(id)["inner"]).1),
        };
        let named = |id: &Value| format!("{}: {}", text(&self.item(id)["name"]), kind_of(id));
        let fields = match kind {
            "tuple" => format!("({})", list(of_kind).map(kind_of).collect::<Vec<_>>().join(", ")),
            "struct" => {
                let fields: Vec<String> = list(&of_kind["fields"]).map(named).collect();
                format!(" {{ {} }}", fields.join(", "))
            }
            _ => String::new(),
        };
        let (marked, name) = (marks(item), text(&item["name"]));
        let value = &content["discriminant"]["value"];
        let value = if value.is_null() { String::new() } else { format!(" = {}", text(value)) };
        self.lines.push(format!("{marked}variant {place}::{name}{fields}{value}"));
    }

    fn add_impls(&mut self, content: &Value, place: &str) {
        list(&content["impls"]).for_each(|id| self.add_impl(id, place));
    }

    /// Methods of a type, or the fact that a trait is implemented. Every type has the blanket
    /// implementations; the compiler derives auto traits, and a trait of its own for `PartialEq`.
    fn add_impl(&mut self, id: &Value, place: &str) {
        let (_, content) = variant(&self.item(id)["inner"]);
        let is_given = content["blanket_impl"].is_null() && content["is_synthetic"] == false;
        if !is_given {
            return;
        }
        if content["trait"].is_null() {
            list(&content["items"]).for_each(|id| self.add_member(id, place));
            return;
        }
        let generics = &content["generics"];
        let (params, end) = (parameters(generics), conditions(generics));
        let (of, to) = (path(&content["trait"]), render(&content["for"]));
        if of == "StructuralPartialEq" {
            return;
        }
        let not = if content["is_negative"] == true { "!" } else { "" };
        self.lines.push(format!("impl{params} {not}{of} for {to}{end} in {place}"));
    }

    /// A method, a type or a constant of a type or a trait.
    fn add_member(&mut self, id: &Value, place: &str) {
        let item = self.item(id);
        let (kind, content) = variant(&item["inner"]);
        let place = format!("{place}::{}", text(&item["name"]));
        let marked = marks(item);
        match kind {
            "function" => self.add_function(content, &place, &marked),
            "assoc_const" => {
                self.lines.push(format!("{marked}const {place}: {}", render(&content["type"])));
            }
            "assoc_type" => {
                let params = parameters(&content["generics"]);
                let limits = limited(&bounds(&content["bounds"]));
                self.lines.push(format!("{marked}type {place}{params}{limits}"));
            }
            _ => self.lines.push(format!("{marked}{kind} {place}")),
        }
    }
}

/// The attributes that callers notice.
fn marks(item: &Value) -> String {
    let has = |name: &str| list(&item["attrs"]).any(|attr| variant(attr).0 == name);
    let mut marks = String::new();
    for name in ["non_exhaustive", "must_use"] {
        marks += &if has(name) { format!("#[{name}] ") } else { String::new() };
    }
    if !item["deprecation"].is_null() {
        marks += "#[deprecated] ";
    }
    marks
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item(name: &str, inner: Value) -> Value {
        json!({ "name": name, "attrs": [], "deprecation": null, "inner": inner })
    }

    fn document() -> Value {
        let none = json!({ "params": [], "where_predicates": [] });
        let mut open = item(
            "S",
            json!({ "struct": {
                "kind": { "plain": { "fields": [3] } }, "generics": none, "impls": [4, 6],
            } }),
        );
        open["attrs"] = json!(["non_exhaustive"]);
        json!({ "root": 0, "index": {
            "0": item("a", json!({ "module": { "items": [1, 8] } })),
            "1": item("inner", json!({ "module": { "items": [2, 7] } })),
            "2": open,
            "3": item("x", json!({ "struct_field": { "primitive": "u8" } })),
            "4": item("", json!({ "impl": {
                "trait": null, "blanket_impl": null, "is_synthetic": false, "items": [5],
            } })),
            "5": item("f", json!({ "function": {
                "sig": {
                    "inputs": [["self", { "generic": "Self" }], ["n", { "primitive": "u8" }]],
                    "output": { "primitive": "bool" },
                },
                "generics": none,
                "header": { "is_const": true, "is_async": false, "is_unsafe": false, "abi": "Rust" },
            } })),
            "6": item("", json!({ "impl": {
                "trait": { "path": "Clone", "args": null }, "blanket_impl": null,
                "is_synthetic": false, "is_negative": false, "generics": none,
                "for": { "resolved_path": { "path": "S", "args": null } }, "items": [],
            } })),
            "7": item("", json!({ "use": {
                "source": "super", "name": "super", "id": 0, "is_glob": true,
            } })),
            "8": item("", json!({ "use": {
                "source": "inner::S", "name": "T", "id": 2, "is_glob": false,
            } })),
        } })
    }

    #[test]
    fn each_item_has_a_line_at_each_of_its_paths() {
        assert_eq!(
            lines(&document(), "a"),
            [
                "#[non_exhaustive] struct a::T",
                "#[non_exhaustive] struct a::inner::S",
                "const fn a::T::f(self, n: u8) -> bool",
                "const fn a::inner::S::f(self, n: u8) -> bool",
                "field a::T::x: u8",
                "field a::inner::S::x: u8",
                "impl Clone for S in a::T",
                "impl Clone for S in a::inner::S",
                "mod a::inner",
            ]
        );
    }
}
