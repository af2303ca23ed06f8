//! What can be done to a view, whatever keys or buttons say it.

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// To the row, the member or the chunks above.
    Up,
    /// To those below.
    Down,
    /// To the column before.
    Left,
    /// To the column after.
    Right,
    /// As many rows up as are shown.
    PageUp,
    /// As many rows down as are shown.
    PageDown,
    /// To the first row and column.
    Home,
    /// To the last row.
    End,
    /// Between the list of members and the selected one.
    SwitchFocus,
    /// Into the selected member.
    Enter,
    /// What is shown of the member.
    Show(Pane),
    /// To another position in the chosen dimension of those before the last two.
    Step(i64),
    /// Chooses the dimension after.
    NextDimension,
    /// Chooses the dimension before.
    PreviousDimension,
    /// Asks for a text, which letters are from now on.
    Ask(Question),
    /// A letter of the text.
    Letter(char),
    /// The last letter of the text goes.
    Erase,
    /// The text is complete.
    Accept,
    /// No text after all.
    Cancel,
    /// To the next member that the last search finds.
    FindNext,
}

/// The purpose of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// An index to go to: `40`, or one for each dimension as in `3,0,40`.
    Index,
    /// A part of the name of a member.
    Name,
}

/// The effects of the letters, for people: a line for each, with the keys that a terminal has too.
pub const HELP: &str = "\
q, Esc             end
?                  this help
arrows, h j k l    a row or a column further; PgUp, PgDn: a screen
g, Home  G, End    the first row, the last row
:                  go to an index: 40, or 3,0,40 in three dimensions; of chunks: a number
/ and n            the member whose name has these letters, and the next one
Tab, Enter         to the list of members and back, into a member
[ ]                back and forth in the dimension in < >, which { } choose
v i c p            values, what it is, its chunks, a plot";

impl Command {
    /// The command that a letter stands for, on every screen with keys.
    #[must_use]
    pub fn of_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'h' => Self::Left,
            'j' => Self::Down,
            'k' => Self::Up,
            'l' => Self::Right,
            'v' => Self::Show(Pane::Values),
            'i' => Self::Show(Pane::About),
            'c' => Self::Show(Pane::Chunks),
            'p' => Self::Show(Pane::Plot),
            ']' => Self::Step(1),
            '[' => Self::Step(-1),
            '}' => Self::NextDimension,
            '{' => Self::PreviousDimension,
            'g' => Self::Home,
            'G' => Self::End,
            ':' => Self::Ask(Question::Index),
            '/' => Self::Ask(Question::Name),
            'n' => Self::FindNext,
            '?' => Self::Show(Pane::Help),
            _ => return None,
        })
    }
}

/// What is shown of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// Its items as text.
    Values,
    /// What it is.
    About,
    /// How well its chunks compress.
    Chunks,
    /// A picture.
    Plot,
    /// The effects of the keys.
    Help,
}

/// Which part the steps move in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The list of members.
    List,
    /// The selected member.
    Member,
}
