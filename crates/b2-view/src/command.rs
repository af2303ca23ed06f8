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
}

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
}

/// Which part the steps move in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The list of members.
    List,
    /// The selected member.
    Member,
}
