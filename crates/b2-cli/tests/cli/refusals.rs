//! Refusals: the exit code says who has to act, and the hint works as it stands.

use crate::{matrix::npy, session::Dir};

/// An array, a single item, objects, and a table in all formats.
fn inputs() -> Dir {
    let dir = Dir::new();
    dir.write("a.npy", npy("<i4", "(3,)", false, &[1; 12]));
    dir.write("one.npy", npy("<i4", "()", false, &[1; 4]));
    dir.write("ob.npy", npy("|O", "(3,)", false, b"a pickle"));
    dir.write("t.csv", "a,f,s\n1,2.5,x\n2,3.5,yy\n");
    for output in ["t.b2z", "t.bcolz", "t.npy"] {
        dir.b2(&format!("convert -q t.csv {output}")).ok();
    }
    for output in ["a.b2nd", "a.blp", "a.bcolz", "two.b2z::/a", "two.b2z::/b"] {
        dir.b2(&format!("convert -q a.npy {output}")).ok();
    }
    let npz = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/called/two-arrays.npz");
    std::fs::copy(npz, dir.path("x.npz")).unwrap();
    dir
}

/// Runs a line, and checks exit code and message.
#[track_caller]
fn refused(dir: &Dir, line: &str, code: i32, said: &str) {
    let run = dir.b2(line);
    assert_eq!(run.code, Some(code), "{line}: {}", run.all());
    assert!(run.stderr.contains(said), "{line}: {}", run.stderr);
}

#[test]
fn options_that_tell_what_an_input_is_are_for_inputs_that_do_not() {
    let dir = inputs();
    let typed = "--dtype and --shape are for inputs that do not";
    for (option, said) in [
        ("--dtype f4", typed),
        ("--shape 2,6", typed),
        ("--delimiter ;", "--delimiter is for text input"),
        ("--from csv", "--from csv is for text"),
    ] {
        for input in ["x.npz", "two.b2z", "t.b2z", "t.bcolz", "a.npy", "a.b2nd", "a.blp", "a.bcolz"]
        {
            refused(&dir, &format!("convert {option} {input} -o out.b2z"), 2, said);
            assert!(!dir.path("out.b2z").exists(), "{option} {input}");
        }
    }
    // An option may repeat the type and the shape of its input.
    dir.b2("convert --dtype i4 --shape 3 a.npy -o out.b2z").ok();
    // A part of text is text.
    dir.write("semi.txt", "a;f\n1;2.5\n2;3.5\n");
    for part in ["--slice 1", "--where f>3", "--columns a,f --slice 1:"] {
        let line = format!("convert -f --from csv --delimiter ; {part} semi.txt -o part.csv");
        dir.b2(&line).ok();
        assert!(dir.b2("show --csv part.csv").ok().text().ends_with("2,3.5\n"), "{part}");
    }
}

#[test]
fn a_missing_table_is_no_such_file() {
    let dir = inputs();
    for target in ["nope", "nope.b2z", "nope.b2z::/t", "nope.bcolz"] {
        for line in [
            "set {} a=1",
            "set --json {} a=1",
            "add {} b:i4=1",
            "rename {} a=b",
            "drop {} a",
            "fill {} a=1",
            "delete {} --where a==1",
            "compact {}",
        ] {
            let line = format!("table {}", line.replace("{}", target));
            refused(&dir, &line, 3, "no such file");
        }
    }
    refused(&dir, "table set a.npy a=1", 2, "not a table");
}

#[test]
fn a_value_on_the_command_line_that_does_not_fit_is_wrong_use() {
    let dir = inputs();
    for table in ["t.b2z", "t.bcolz"] {
        for (action, value, said) in [
            ("set", "a=abc", "is no integer"),
            ("set", "a=99999999999999999999", "is no integer"),
            ("set", "f=x", "is no number"),
            ("set", "s=abcdefgh", "is no text"),
            ("add", "u:U3=abcd", "is no text of at most 3"),
            ("add", "i:i1=300", "is no integer from -128"),
            ("add", "d:M8[D]=foo", "is no day"),
        ] {
            refused(&dir, &format!("table {action} {table} {value}"), 2, said);
        }
    }
    refused(&dir, "table fill t.b2z a=abc", 2, "is no integer");
    // The same value in a file is the fault of the data.
    dir.write("bad.csv", "a,f,s\nabc,1,x\n");
    refused(&dir, "append t.b2z bad.csv", 1, "is no integer");
}

#[test]
fn the_hint_about_an_unreadable_array_of_numpy_works() {
    let dir = inputs();
    dir.write("cut.npy", &npy("<i4", "(3,)", false, &[])[..60]);
    for (input, code) in [("ob.npy", 4), ("cut.npy", 1)] {
        let hint = format!("compress --format b2frame {input}");
        for line in
            ["convert {} x.b2nd", "convert --format b2frame {}", "compress --format b2nd {}"]
        {
            refused(&dir, &line.replace("{}", input), code, &format!("hint: `b2 {hint}` keeps"));
        }
        assert_eq!(dir.b2(&hint).code, Some(0), "{hint}");
        assert!(dir.b2(&format!("cat -f {input}.b2frame")).ok().stdout == dir.read(input));
    }
}

#[test]
fn a_single_item_does_not_grow_and_the_hint_makes_an_array_that_does() {
    let dir = inputs();
    for target in ["one.npy", "one.b2nd", "one.blp", "one.b2z::/k"] {
        if target != "one.npy" {
            dir.b2(&format!("convert -q one.npy {target}")).ok();
        }
        let line = format!("append {target} a.npy");
        refused(&dir, &line, 2, "a single item, which has no dimension to grow along");
        refused(&dir, &line, 2, &format!("`b2 cat {target} | b2 convert --dtype TYPE - NEW.npy`"));
        let item = dir.b2(&format!("cat -f {target}")).ok().stdout;
        dir.b2_with("convert -q -f --dtype i4 - -o new.npy", &item).ok();
        dir.b2("append -q new.npy a.npy").ok();
        assert_eq!(dir.read("new.npy").len(), 128 + 16, "{target}");
    }
}

#[test]
fn names_of_values_that_are_no_columns_are_told_in_conditions() {
    let dir = inputs();
    for table in ["t.b2z", "t.bcolz", "t.npy", "t.csv"] {
        for (value, said) in [
            ("nan", "expected isnan(a)"),
            ("NaN", "expected isnan(a)"),
            ("inf", "expected isinf(a)"),
            ("NA", "expected `is null` or `is not null`"),
            ("null", "expected `is null` or `is not null`"),
        ] {
            let line = format!("show --where f=={value} {table}");
            refused(&dir, &line, 2, said);
            assert!(!dir.b2(&line).stderr.contains("quotation marks"), "{line}");
        }
        refused(&dir, &format!("show --where f==abc {table}"), 2, "text stands in quotation marks");
        for shown in ["isnan(f)", "isinf(f)"] {
            dir.b2(&format!("show --where {shown} {table}")).ok();
        }
    }
}

#[test]
fn a_column_stands_once_in_a_selection() {
    let dir = inputs();
    for table in ["t.b2z", "t.bcolz", "t.csv", "t.npy"] {
        for command in ["show", "stats", "plot -o out.png", "convert -o out.csv"] {
            for columns in ["--columns a,f,a", "--columns a --columns a"] {
                let line = format!("{command} {columns} {table}");
                refused(&dir, &line, 2, "b2: --columns: \"a\" stands twice\n");
            }
        }
    }
    dir.b2("show --columns f,a t.b2z").ok();
}

#[test]
fn options_are_named_as_they_are_typed() {
    let dir = inputs();
    for (line, said) in [
        ("stats --histogram=0 a.npy", "b2: --histogram: \"0\" is not in the range 1 to 1000\n"),
        ("stats --histogram=x a.npy", "b2: --histogram: \"x\" is not a whole number"),
        ("show --color=x a.npy", "b2: --color: \"x\" is none of"),
    ] {
        refused(&dir, line, 2, said);
    }
}
