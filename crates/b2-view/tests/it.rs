//! The tests of the interface, on an artificial input.

mod items;

use core::{fmt, ops::Range};

use b2_plot::{Content, Line};
use b2_view::{Chunks, Command, Focus, Items, Member, Opened, Pane, Question, Scene, Source, View};
use blosc_dtype::Dtype;

#[derive(Debug, PartialEq)]
struct Failed(&'static str);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Items with consecutive bytes in C order; every third row of a column is null.
struct Counted {
    dtype: Dtype,
    shape: Vec<u64>,
    has_nulls: bool,
    is_broken: bool,
}

impl Counted {
    fn new(dtype: &str, shape: &[u64]) -> Self {
        let dtype = dtype.parse().unwrap();
        Self { dtype, shape: shape.to_vec(), has_nulls: false, is_broken: false }
    }
}

impl Items for Counted {
    type Error = Failed;

    fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn read(
        &self,
        bounds: &[Range<u64>],
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Vec<bool>>, Failed> {
        if self.is_broken {
            return Err(Failed("chunk 3 is damaged\n"));
        }
        assert_eq!(bounds.len(), self.shape.len());
        assert!(bounds.iter().zip(&self.shape).all(|(range, len)| range.end <= *len));
        let mut places = vec![0];
        for (range, len) in bounds.iter().zip(&self.shape) {
            let with = |place: u64| range.clone().map(move |at| place * len + at);
            places = places.into_iter().flat_map(with).collect();
        }
        let itemsize = self.dtype.itemsize() as u64;
        let of_item =
            |place: u64| (0..itemsize).map(move |n| u8::try_from(place * itemsize + n).unwrap());
        bytes.extend(places.into_iter().flat_map(of_item));
        let rows = bounds.first().cloned().unwrap_or(0..1);
        Ok(self.has_nulls.then(|| rows.map(|row| row % 3 != 0).collect()))
    }
}

/// Chunks with increasing compression ratios; the last one is broken.
struct Better(u64, Option<Vec<u64>>);

impl Chunks for Better {
    fn nchunks(&self) -> u64 {
        self.0
    }

    fn grid(&self) -> Option<Vec<u64>> {
        self.1.clone()
    }

    fn sizes(&self, nchunk: u64) -> Option<(u64, u64)> {
        (nchunk + 1 < self.0).then_some((100 + 10 * nchunk, 100))
    }
}

/// A member for each entry.
struct Input(Vec<Member>);

impl Input {
    fn new(labels: &[&str]) -> Self {
        let member = |label: &&str| Member { label: (*label).to_owned(), depth: 0 };
        Self(labels.iter().map(member).collect())
    }
}

impl Source for Input {
    type Error = Failed;

    fn title(&self) -> String {
        "input".to_owned()
    }

    fn members(&self) -> &[Member] {
        &self.0
    }

    fn open(&self, member: usize) -> Result<Opened<Failed>, Failed> {
        let array = |dtype: &str, shape: &[u64]| Box::new(Counted::new(dtype, shape));
        match self.0[member].label.as_str() {
            "group" => Err(Failed("this is a group")),
            "line" => {
                Ok(Opened::items(array("|u1", &[40]), vec![], Some(Box::new(Better(30, None)))))
            }
            "scalar" => Ok(Opened::items(array("|u1", &[]), vec![], None)),
            "cube" => {
                let about = vec![("units".to_owned(), "K".to_owned())];
                let chunks = Better(12, Some(vec![3, 4]));
                Ok(Opened::items(array("|u1", &[2, 3, 4]), about, Some(Box::new(chunks))))
            }
            "fields" => Ok(Opened::items(array("[('a', 'u1'), ('b', 'S1')]", &[3]), vec![], None)),
            "float" => Ok(Opened::items(array("float32", &[4]), vec![], None)),
            "broken" => {
                let items = Counted { is_broken: true, ..Counted::new("|u1", &[5]) };
                Ok(Opened::items(Box::new(items), vec![], None))
            }
            _ => {
                let nulls = Counted { has_nulls: true, ..Counted::new("|u1", &[6]) };
                let pairs = Counted::new("|u1", &[6, 2]);
                let columns: Vec<(String, Box<dyn Items<Error = Failed>>)> = vec![
                    ("n".to_owned(), Box::new(nulls)),
                    ("p\u{1b}".to_owned(), Box::new(pairs)),
                ];
                Ok(Opened::columns(columns, &["names".to_owned()]).unwrap())
            }
        }
    }

    fn scene(&self, member: usize, fixed: &[u64]) -> Result<Scene, Failed> {
        match self.0[member].label.as_str() {
            "group" => Err(Failed("this is a group")),
            label => {
                let title = format!("{label}{fixed:?}");
                Ok(Scene::new(title, Content::lines([(String::new(), Line::new(0, 1))])))
            }
        }
    }

    fn explain(&self, error: &Failed) -> String {
        error.to_string()
    }
}

fn view(labels: &[&str]) -> View<Input> {
    View::new(Input::new(labels)).unwrap()
}

fn rows(view: &View<Input>, nrows: u64, ncolumns: u64) -> Vec<String> {
    view.values(nrows, ncolumns).unwrap().rows.iter().map(|row| row.join(" ")).collect()
}

#[test]
fn a_cube_is_moved_through_plane_by_plane() {
    let mut view = view(&["cube"]);
    assert_eq!(view.heading(), "input   2 x 3 x 4 of |u1");
    assert_eq!(view.position().as_deref(), Some("[<0>, 0.., 0..]"));
    assert_eq!(rows(&view, 2, 3), ["0 1 2", "4 5 6"]);
    for command in [Command::Step(1), Command::Down, Command::Right] {
        view.execute(command);
    }
    assert_eq!(view.position().as_deref(), Some("[<1>, 1.., 1..]"));
    assert_eq!(rows(&view, 9, 9), ["17 18 19", "21 22 23"]);
    assert_eq!(view.values(9, 9).unwrap().names, ["1", "2", "3"]);
    view.execute(Command::Step(5));
    view.execute(Command::NextDimension);
    assert_eq!(view.position().as_deref(), Some("[<1>, 1.., 1..]"));
    view.execute(Command::Home);
    view.execute(Command::Step(-9));
    assert_eq!(view.position().as_deref(), Some("[<0>, 0.., 0..]"));
}

#[test]
fn pages_are_as_long_as_what_was_shown() {
    let mut view = view(&["line"]);
    view.set_page(15, 1);
    let at = |view: &mut View<Input>, command| {
        view.execute(command);
        view.top_left().0
    };
    assert_eq!(at(&mut view, Command::PageDown), 15);
    assert_eq!(at(&mut view, Command::PageDown), 30);
    assert_eq!(at(&mut view, Command::PageDown), 39);
    assert_eq!(at(&mut view, Command::End), 25);
    assert_eq!(at(&mut view, Command::PageUp), 10);
    assert_eq!(at(&mut view, Command::Up), 9);
    assert_eq!(at(&mut view, Command::Left), 9);
    assert_eq!(rows(&view, 2, 1), ["9", "10"]);
}

#[test]
fn a_narrow_screen_shows_shape_and_type_not_the_start_of_a_path() {
    let first = |width| {
        let screen = view(&["cube"]).draw_screen((width, 10), "").to_string();
        screen.lines().next().unwrap().to_owned()
    };
    assert_eq!(first(40).trim_end(), " input   2 x 3 x 4 of |u1");
    assert_eq!(first(20).trim_end(), " … 2 x 3 x 4 of |u1");
    assert_eq!(first(1), " ");
}

#[test]
fn items_of_every_form_are_text() {
    assert_eq!(rows(&view(&["scalar"]), 5, 5), ["0"]);
    let fields = view(&["fields"]).values(5, 5).unwrap();
    assert_eq!(fields.names, ["a", "b"]);
    assert_eq!(fields.rows[1], ["2", r"\u{3}"]);
    let view = view(&["rows"]);
    assert_eq!(view.heading(), "input   6 rows, 2 columns");
    let table = view.values(3, 9).unwrap();
    assert_eq!(table.names, ["n", r"p\u{1b}"]);
    assert_eq!(table.rows, [["", "0 1"], ["1", "2 3"], ["2", "4 5"]]);
    assert_eq!(view.values(1, 1).unwrap().rows, [[""]]);
}

#[test]
fn what_a_member_is_is_told() {
    let lines = |view: &View<Input>| {
        let about = view.opened().unwrap_or_else(|error| panic!("{error}")).about();
        about.iter().map(|(name, text)| format!("{name}={text}")).collect::<Vec<_>>()
    };
    assert_eq!(lines(&view(&["cube"])), ["shape=2 x 3 x 4", "type=|u1", "units=K"]);
    let table = ["rows=6", "n=|u1", r"p\u{1b}=|u1", "names=not of a fixed width"];
    assert_eq!(lines(&view(&["rows"])), table);
}

#[test]
fn one_member_of_many_may_fail_and_the_only_one_may_not() {
    assert_eq!(View::new(Input::new(&["group"])).err(), Some(Failed("this is a group")));
    let mut view = view(&["group", "line", "broken"]);
    assert_eq!((view.focus(), view.selected()), (Focus::List, 0));
    assert_eq!(view.opened().err(), Some("this is a group"));
    assert_eq!((view.position(), view.heading()), (None, "input".to_owned()));
    view.execute(Command::Down);
    assert!(view.opened().is_ok());
    view.execute(Command::End);
    assert_eq!(view.values(2, 2), Err(r"chunk 3 is damaged\n".to_owned()));
    view.execute(Command::SwitchFocus);
    view.execute(Command::Down);
    assert_eq!((view.selected(), view.top_left(), view.focus()), (2, (1, 0), Focus::Member));
    let empty = View::new(Input::new(&[])).unwrap();
    assert_eq!(empty.opened().err(), Some("nothing is in it"));
}

#[test]
fn chunks_lie_as_in_their_grid_and_pages_of_them_follow_the_screen() {
    let mut cube = view(&["cube"]);
    cube.execute(Command::Show(Pane::Chunks));
    let map = cube.chunk_map(20, 2).unwrap();
    assert_eq!((map.columns, map.colors.len()), (4, 8));
    assert_eq!(map.text, "chunks 0 to 7 of 12");
    cube.execute(Command::End);
    let map = cube.chunk_map(20, 2).unwrap();
    assert_eq!((map.text.as_str(), map.colors.len()), ("chunks 8 to 11 of 12", 4));
    assert_eq!(map.colors.last(), Some(&None));
    assert!(map.colors[0].is_some() && map.colors[0] != map.colors[1]);

    let mut line = view(&["line"]);
    line.execute(Command::Show(Pane::Chunks));
    assert_eq!(line.chunk_map(7, 2).unwrap().columns, 7);
    line.execute(Command::PageDown);
    assert_eq!(line.chunk_map(7, 2).unwrap().text, "chunks 14 to 27 of 30");
    line.execute(Command::Up);
    assert_eq!(line.chunk_map(7, 1).unwrap().text, "chunks 7 to 13 of 30");
    assert_eq!(view(&["scalar"]).chunk_map(9, 9), None);
}

#[test]
fn a_picture_is_made_when_it_is_looked_at() {
    let title = |view: &View<Input>| match view.scene() {
        Some(Ok(scene)) => scene.title.clone(),
        Some(Err(error)) => error.to_owned(),
        None => "none".to_owned(),
    };
    let mut view = view(&["cube", "line", "group"]);
    assert_eq!(title(&view), "none");
    view.execute(Command::Show(Pane::Plot));
    assert_eq!(title(&view), "cube[0]");
    view.execute(Command::Step(1));
    assert_eq!(title(&view), "cube[1]");
    view.execute(Command::Down);
    assert_eq!(title(&view), "line[]");
    view.execute(Command::Show(Pane::Values));
    view.execute(Command::Up);
    assert_eq!((title(&view), view.pane()), ("none".to_owned(), Pane::Values));
    // A member that cannot be opened has no picture; its pane shows the reason.
    view.execute(Command::Show(Pane::Plot));
    view.execute(Command::End);
    assert_eq!((title(&view), view.opened().is_err()), ("none".to_owned(), true));
}

#[test]
fn letters_are_commands() {
    for (letter, command) in [
        ('v', Command::Show(Pane::Values)),
        ('p', Command::Show(Pane::Plot)),
        ('[', Command::Step(-1)),
        ('}', Command::NextDimension),
        ('k', Command::Up),
    ] {
        assert_eq!(Command::of_letter(letter), Some(command));
    }
    assert_eq!(Command::of_letter('q'), None);
}

/// Asks with the letters of `text`.
fn ask(view: &mut View<Input>, question: Question, text: &str) {
    view.execute(Command::Ask(question));
    for letter in text.chars() {
        view.execute(Command::Letter(letter));
    }
    view.execute(Command::Accept);
}

#[test]
fn a_question_that_finds_nothing_is_answered() {
    let mut view = view(&["cube", "line"]);
    ask(&mut view, Question::Name, "zzz");
    assert_eq!(view.reply(), Some("no member has \"zzz\" in its name"));
    ask(&mut view, Question::Name, "IN");
    assert_eq!((view.reply(), view.selected()), (None, 1));
    for (text, reply) in [
        ("x", Some("\"x\" is no index")),
        ("900", Some("there is no index 900: this is the nearest")),
        ("3,9", Some("there is no index 3,9: this is the nearest")),
        ("39", None),
    ] {
        ask(&mut view, Question::Index, text);
        assert_eq!(view.reply(), reply, "{text}");
    }
    view.execute(Command::Show(Pane::Chunks));
    ask(&mut view, Question::Index, "30");
    assert_eq!(view.reply(), Some("there is no chunk 30"));
    view.execute(Command::Up);
    assert_eq!(view.reply(), None);
}

#[test]
fn types_have_one_spelling() {
    assert_eq!(view(&["float"]).heading(), "input   4 of <f4");
}
