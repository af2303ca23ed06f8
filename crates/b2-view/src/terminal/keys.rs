//! The keys of a terminal, and their names on the command line.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::Command;

/// The keys, in one line.
pub const KEYS: &str =
    "q end  ? help  Tab list  : go to  / find  v values  i about  c chunks  p plot";

/// The meaning of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// A command for the view.
    Command(Command),
    /// The program should end.
    End,
    /// A key without a meaning.
    Nothing,
}

/// The meaning of a key, which depends on whether a text is being typed.
#[must_use]
pub fn pressed(key: KeyEvent, is_asked: bool) -> Pressed {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    let command = match key.code {
        KeyCode::Char('c') if is_control => return Pressed::End,
        KeyCode::Char(letter) if is_asked => Some(Command::Letter(letter)),
        KeyCode::Enter if is_asked => Some(Command::Accept),
        KeyCode::Backspace if is_asked => Some(Command::Erase),
        KeyCode::Esc if is_asked => Some(Command::Cancel),
        KeyCode::Char('q') | KeyCode::Esc => return Pressed::End,
        KeyCode::Char(letter) => Command::of_letter(letter),
        KeyCode::Tab | KeyCode::BackTab => Some(Command::SwitchFocus),
        KeyCode::Enter => Some(Command::Enter),
        KeyCode::Up => Some(Command::Up),
        KeyCode::Down => Some(Command::Down),
        KeyCode::Left => Some(Command::Left),
        KeyCode::Right => Some(Command::Right),
        KeyCode::PageUp => Some(Command::PageUp),
        KeyCode::PageDown => Some(Command::PageDown),
        KeyCode::Home => Some(Command::Home),
        KeyCode::End => Some(Command::End),
        _ => None,
    };
    command.map_or(Pressed::Nothing, Pressed::Command)
}

/// The key with a name such as `q`, `down` or `pgup`.
#[must_use]
pub fn key_of(name: &str) -> Option<KeyEvent> {
    let mut letters = name.chars();
    let code = match (letters.next(), letters.next()) {
        (Some(letter), None) => KeyCode::Char(letter),
        _ => match name {
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "pgup" => KeyCode::PageUp,
            "pgdn" => KeyCode::PageDown,
            "home" => KeyCode::Home,
            "end" => KeyCode::End,
            "tab" => KeyCode::Tab,
            "enter" => KeyCode::Enter,
            "comma" => KeyCode::Char(','),
            _ => return None,
        },
    };
    Some(KeyEvent::new(code, KeyModifiers::NONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_names_and_say_something() {
        let said = |name: &str| key_of(name).map(|key| pressed(key, false));
        assert_eq!(said("q"), Some(Pressed::End));
        assert_eq!(said("down"), Some(Pressed::Command(Command::Down)));
        assert_eq!(said("]"), Some(Pressed::Command(Command::Step(1))));
        assert_eq!(said("x"), Some(Pressed::Nothing));
        assert_eq!((said("sideways"), said("")), (None, None));
        let asked = |name: &str| key_of(name).map(|key| pressed(key, true));
        assert_eq!(asked("q"), Some(Pressed::Command(Command::Letter('q'))));
        assert_eq!(asked("enter"), Some(Pressed::Command(Command::Accept)));
        assert!(KEYS.starts_with("q end") && KEYS.len() <= 80);
        let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(pressed(control, true), Pressed::End);
    }
}
