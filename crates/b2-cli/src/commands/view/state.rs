//! What is looked at, and what the keys do to it.

use b2_plot::Scene;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::opened::{self, Member, Opened};
use crate::{
    context::Context,
    error::{Error, Result, chain},
    inputs::Origin,
    plot,
    render::harmless,
};

/// What becomes of the program after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    GoOn,
    End,
}

/// What is shown of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pane {
    Values,
    About,
    Chunks,
    Plot,
}

/// Which part the arrows move in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    List,
    Member,
}

/// All that a picture of the screen is made of.
pub(super) struct State<'a> {
    cx: &'a Context,
    pub(super) title: String,
    pub(super) members: Vec<Member>,
    pub(super) selected: usize,
    pub(super) focus: Focus,
    pub(super) pane: Pane,
    /// The selected member, or why it cannot be opened.
    pub(super) opened: core::result::Result<Opened, String>,
    /// Positions in the dimensions before the last two.
    pub(super) fixed: Vec<u64>,
    /// The one of them that `[` and `]` change.
    pub(super) dim: usize,
    /// The first row and column on the screen, or the first chunk.
    pub(super) at: (u64, u64),
    pub(super) first_chunk: u64,
    /// Rows, columns and chunks on the screen, as they were drawn last.
    pub(super) page: (u64, u64),
    pub(super) chunk_page: (u64, u64),
    /// The plot of what is selected, once it was wanted.
    pub(super) picture: Option<core::result::Result<Scene, String>>,
}

impl<'a> State<'a> {
    /// # Errors
    ///
    /// An input that cannot be opened.
    pub(super) fn new(cx: &'a Context, origin: &Origin) -> Result<Self> {
        let members = opened::members(cx, origin)?;
        let focus = if members.len() > 1 { Focus::List } else { Focus::Member };
        let mut state = Self {
            cx,
            title: harmless(&origin.name()),
            members,
            selected: 0,
            focus,
            pane: Pane::Values,
            opened: Err(String::new()),
            fixed: vec![],
            dim: 0,
            at: (0, 0),
            first_chunk: 0,
            page: (1, 1),
            chunk_page: (1, 1),
            picture: None,
        };
        state.open();
        // The only member has to open; one of many is told of in its place.
        match (&state.opened, &state.members[..]) {
            (Err(_), [member]) => {
                Err(Opened::new(cx, member).err().unwrap_or(Error::NotBlosc { start: vec![] }))
            }
            _ => Ok(state),
        }
    }

    fn open(&mut self) {
        let opened = self.members.get(self.selected).map(|member| Opened::new(self.cx, member));
        self.opened = match opened {
            Some(opened) => opened.map_err(|error| harmless(&chain(&error))),
            None => Err("nothing is in it".to_owned()),
        };
        let ndim = self.opened.as_ref().map_or(0, |opened| opened.shape().len());
        self.fixed = vec![0; ndim.saturating_sub(2)];
        (self.dim, self.at, self.first_chunk, self.picture) = (0, (0, 0), 0, None);
    }

    /// Rows and columns that can be moved through.
    fn extent(&self) -> (u64, u64) {
        match self.opened.as_ref().map(Opened::shape) {
            Ok([.., down, across]) => (*down, *across),
            Ok([len]) => (*len, 1),
            _ => (1, 1),
        }
    }

    /// Does what a key says.
    pub(super) fn press(&mut self, key: KeyEvent) -> Effect {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_control => return Effect::End,
            KeyCode::Char('q') | KeyCode::Esc => return Effect::End,
            KeyCode::Tab | KeyCode::BackTab => {
                let is_list = self.focus == Focus::List || self.members.len() < 2;
                self.focus = if is_list { Focus::Member } else { Focus::List };
            }
            KeyCode::Enter => self.focus = Focus::Member,
            KeyCode::Char('v') => self.pane = Pane::Values,
            KeyCode::Char('i') => self.pane = Pane::About,
            KeyCode::Char('c') => self.pane = Pane::Chunks,
            KeyCode::Char('p') => self.show_plot(),
            KeyCode::Char(']') => self.step(1),
            KeyCode::Char('[') => self.step(-1),
            KeyCode::Char('}') => self.dim = (self.dim + 1).min(self.fixed.len().saturating_sub(1)),
            KeyCode::Char('{') => self.dim = self.dim.saturating_sub(1),
            code => self.move_by(code),
        }
        Effect::GoOn
    }

    fn show_plot(&mut self) {
        self.pane = Pane::Plot;
        if self.picture.is_some() {
            return;
        }
        let Ok(opened) = &self.opened else { return };
        let (origin, columns) = &opened.plotted;
        let picks = plot::picks_of_plane(&self.fixed, opened.shape().len());
        let picture = plot::scene_for_screen(self.cx, origin, picks, columns.clone());
        self.picture = Some(picture.map_err(|error| harmless(&chain(&error))));
    }

    /// Another position in a dimension before the last two.
    fn step(&mut self, by: i64) {
        let len = self.opened.as_ref().ok().and_then(|opened| opened.shape().get(self.dim));
        if let (Some(at), Some(len)) = (self.fixed.get_mut(self.dim), len) {
            *at = at.saturating_add_signed(by).min(len.saturating_sub(1));
            self.picture = None;
            if self.pane == Pane::Plot {
                self.show_plot();
            }
        }
    }

    fn move_by(&mut self, code: KeyCode) {
        if self.focus == Focus::List {
            let last = self.members.len().saturating_sub(1);
            let page = usize::try_from(self.page.0).unwrap_or(1).max(1);
            let selected = match code {
                KeyCode::Up | KeyCode::Char('k') => self.selected.saturating_sub(1),
                KeyCode::Down | KeyCode::Char('j') => self.selected.saturating_add(1),
                KeyCode::PageUp => self.selected.saturating_sub(page),
                KeyCode::PageDown => self.selected.saturating_add(page),
                KeyCode::Home => 0,
                KeyCode::End => last,
                _ => return,
            };
            let selected = selected.min(last);
            if selected != self.selected {
                self.selected = selected;
                self.open();
                if self.pane == Pane::Plot {
                    self.show_plot();
                }
            }
            return;
        }
        if self.pane == Pane::Chunks {
            let (columns, rows) = self.chunk_page;
            let nchunks = self.opened.as_ref().ok().and_then(|opened| opened.schunk.as_ref());
            let nchunks = nchunks.map_or(0, |schunk| schunk.nchunks());
            let page = columns.saturating_mul(rows);
            let last = nchunks.saturating_sub(1) / columns.max(1) * columns.max(1);
            let first = match code {
                KeyCode::Up => self.first_chunk.saturating_sub(columns),
                KeyCode::Down => self.first_chunk.saturating_add(columns),
                KeyCode::PageUp => self.first_chunk.saturating_sub(page),
                KeyCode::PageDown => self.first_chunk.saturating_add(page),
                KeyCode::Home => 0,
                KeyCode::End => last,
                _ => return,
            };
            self.first_chunk = first.min(last);
            return;
        }
        let ((rows, columns), (row, column)) = (self.extent(), self.at);
        let (last_row, last_column) = (rows.saturating_sub(1), columns.saturating_sub(1));
        let (row, column) = match code {
            KeyCode::Up | KeyCode::Char('k') => (row.saturating_sub(1), column),
            KeyCode::Down | KeyCode::Char('j') => (row.saturating_add(1), column),
            KeyCode::Left | KeyCode::Char('h') => (row, column.saturating_sub(1)),
            KeyCode::Right | KeyCode::Char('l') => (row, column.saturating_add(1)),
            KeyCode::PageUp => (row.saturating_sub(self.page.0), column),
            KeyCode::PageDown => (row.saturating_add(self.page.0), column),
            KeyCode::Home => (0, 0),
            KeyCode::End => (last_row.saturating_sub(self.page.0.saturating_sub(1)), column),
            _ => return,
        };
        self.at = (row.min(last_row), column.min(last_column));
    }
}
