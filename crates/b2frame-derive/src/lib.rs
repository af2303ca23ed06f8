//! `#[derive(Element)]`: a struct whose values are items of a structured array. Part of `b2frame`,
//! feature `derive`.
//!
//! ```text
//! struct Station { id: u32, temperature: f64 }       NumPy: [('id', '<u4'), ('temperature', '<f8')]
//!   accepts   fields of these names and types, in this order, at any offsets, in either byte order
//!   decode    each field at the offset that the stored type says
//!   encode    each field after the one before, little-endian
//! ```
//!
//! The macro writes the code of `b2frame::element!` for an existing struct. The layout of the
//! struct in memory does not matter, so the struct needs no `#[repr(C)]` and the code no `unsafe`.
//! The struct must be `Copy`.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, LitStr, Result, Type};

/// Implements `b2frame::Element` for a struct with named fields that are elements themselves.
///
/// `#[element(rename = "other")]` on a field sets its name in NumPy.
#[proc_macro_derive(Element, attributes(element))]
pub fn derive_element(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse(input).and_then(|input| expand(&input));
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// The implementation.
fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let wrong = |what| Err(Error::new_spanned(&input.ident, what));
    let Data::Struct(data) = &input.data else {
        return wrong("only structs are items of structured arrays");
    };
    let Fields::Named(fields) = &data.fields else {
        return wrong("the fields of structured items have names");
    };
    if fields.named.is_empty() {
        return wrong("an item has one field at least");
    }
    if !input.generics.params.is_empty() {
        return wrong("a type of items has no parameters");
    }
    let columns = fields.named.iter().map(Column::new).collect::<Result<Vec<_>>>()?;
    for (n, column) in columns.iter().enumerate() {
        if columns.iter().take(n).any(|earlier| earlier.name == column.name) {
            let twice = format!("two fields have the name {:?}", column.name);
            return Err(Error::new_spanned(column.field, twice));
        }
    }
    Ok(implementation(&input.ident, &columns))
}

/// A field of the struct and of the items.
struct Column<'a> {
    field: &'a Ident,
    /// The name in the items.
    name: String,
    kind: &'a Type,
}

impl<'a> Column<'a> {
    fn new(field: &'a Field) -> Result<Self> {
        let Some(ident) = &field.ident else {
            return Err(Error::new_spanned(field, "a field without a name"));
        };
        // `r#type` is Rust's notation for the name `type`.
        let mut name = ident.unraw().to_string();
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("element"))
        {
            attribute.parse_nested_meta(|meta| {
                if !meta.path.is_ident("rename") {
                    return Err(meta.error("known is `rename`"));
                }
                name = meta.value()?.parse::<LitStr>()?.value();
                Ok(())
            })?;
        }
        Ok(Self { field: ident, name, kind: &field.ty })
    }
}

fn implementation(ident: &Ident, columns: &[Column<'_>]) -> TokenStream {
    let fields: Vec<_> = columns.iter().map(|column| column.field).collect();
    let names: Vec<_> = columns.iter().map(|column| &column.name).collect();
    let kinds: Vec<_> = columns.iter().map(|column| column.kind).collect();
    quote! {
        impl ::b2frame::Element for #ident {
            fn dtype() -> ::b2frame::Dtype {
                ::b2frame::element_fields::packed(&[
                    #((#names, <#kinds as ::b2frame::Element>::dtype())),*
                ])
            }

            fn accepts(dtype: &::b2frame::Dtype) -> bool {
                ::b2frame::element_fields::has_fields(
                    dtype,
                    &[#((#names, <#kinds as ::b2frame::Element>::accepts)),*],
                )
            }

            fn decode(dtype: &::b2frame::Dtype, bytes: &[u8]) -> Self {
                let mut fields = dtype.fields().iter();
                Self { #(#fields: ::b2frame::element_fields::decode_field(fields.next(), bytes)),* }
            }

            fn encode(&self, bytes: &mut [u8]) {
                let rest = bytes;
                #(let rest = ::b2frame::element_fields::encode_field(&self.#fields, rest);)*
                let _ = rest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(input: TokenStream) -> Result<String> {
        expand(&syn::parse2(input)?).map(|tokens| tokens.to_string())
    }

    #[test]
    fn fields_have_their_names_unless_they_are_renamed() {
        let input = quote! { struct Point { r#type: u8, #[element(rename = "x y")] both: f64 } };
        let code = expanded(input).unwrap();
        assert!(code.contains("impl :: b2frame :: Element for Point"), "{code}");
        assert!(code.contains("\"type\" , < u8 as"), "{code}");
        assert!(code.contains("Self { r#type :"), "{code}");
        assert!(code.contains("\"x y\" , < f64 as"), "{code}");
    }

    #[test]
    fn fields_keep_their_order_in_every_function() {
        let code = expanded(quote! { struct Pair { last: u16, first: i64 } }).unwrap();
        for (before, after) in [
            ("(\"last\" , < u16", "(\"first\" , < i64"),
            ("last : :: b2frame", "first : :: b2frame"),
            ("& self . last", "& self . first"),
        ] {
            assert!(code.find(before).unwrap() < code.find(after).unwrap(), "{code}");
        }
    }

    #[test]
    fn what_is_no_item_is_an_error() {
        let cases = [
            (quote! { enum A { B } }, "only structs"),
            (quote! { union A { b: u8 } }, "only structs"),
            (quote! { struct A(u8); }, "have names"),
            (quote! { struct A; }, "have names"),
            (quote! { struct A {} }, "one field"),
            (quote! { struct A<T> { b: T } }, "no parameters"),
            (quote! { struct A { #[element(skip)] b: u8 } }, "known is"),
            (quote! { struct A { #[element(rename = 3)] b: u8 } }, "string literal"),
            (quote! { struct A { b: u8, #[element(rename = "b")] c: u8 } }, "the name \"b\""),
            (quote! { struct A { #[element(rename = "type")] b: u8, r#type: u8 } }, "\"type\""),
        ];
        for (input, expected) in cases {
            let error = expanded(input).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
