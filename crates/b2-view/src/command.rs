//! The commands of a view, independent of keys and buttons.

/// One command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Moves to the row, the member or the chunks above.
    Up,
    /// Moves to the row, the member or the chunks below.
    Down,
    /// Moves to the column before.
    Left,
    /// Moves to the column after.
    Right,
    /// Moves up by a page.
    PageUp,
    /// Moves down by a page.
    PageDown,
    /// Moves to the first row and column.
    Home,
    /// Moves to the last row.
    End,
    /// Switches between the list of members and the selected one.
    SwitchFocus,
    /// Moves into the selected member.
    Enter,
    /// Shows a pane of the member.
    Show(Pane),
    /// Moves to another position in the chosen dimension, which is before the last two.
    Step(i64),
    /// Chooses the next dimension.
    NextDimension,
    /// Chooses the previous dimension.
    PreviousDimension,
    /// Asks for a text; the following letters belong to it.
    Ask(Question),
    /// Adds a letter to the text.
    Letter(char),
    /// Erases the last letter of the text.
    Erase,
    /// Completes the text.
    Accept,
    /// Discards the text.
    Cancel,
    /// Moves to the next member that the last search finds.
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

/// The effects of the letters as text: a line for each, with the additional keys of a terminal.
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
    /// The command of a letter, for every screen with keys.
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

/// The views of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// Its items as text.
    Values,
    /// Its properties.
    About,
    /// The compression ratios of its chunks.
    Chunks,
    /// A picture.
    Plot,
    /// The effects of the keys.
    Help,
}

/// The part of the screen in which commands move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The list of members.
    List,
    /// The selected member.
    Member,
}
