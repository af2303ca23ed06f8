//! Prints the size of each struct of C-Blosc2's header, and the offset of each field, as this crate
//! has them: a check compares them with what a C compiler says of the header.

#![allow(clippy::print_stdout, reason = "the output is what the example is for")]

fn main() {
    for (name, nbytes, fields) in blosc_capi::types::layouts() {
        println!("{name} {nbytes}");
        for (field, offset) in fields {
            println!("{name} {field} {offset}");
        }
    }
}
