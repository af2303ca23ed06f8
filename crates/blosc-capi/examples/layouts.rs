//! Prints the size of each struct of C-Blosc2's header, and the offset of each field, according to
//! this crate: a check compares them with the results of a C compiler.

#![allow(clippy::print_stdout, reason = "the output is what the example is for")]

fn main() {
    for (name, nbytes, fields) in blosc_capi::types::layouts() {
        println!("{name} {nbytes}");
        for (field, offset) in fields {
            println!("{name} {field} {offset}");
        }
    }
}
