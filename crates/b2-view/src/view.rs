//! The state of a browser, and the effects of commands on it.

use b2_plot::Scene;

use crate::{
    chunk_map::{self, ChunkMap},
    command::{Command, Focus, Pane, Question},
    opened::Opened,
    source::{Member, Source},
    text::{count, harmless},
    values::Values,
};

/// The state of a browser.
pub struct View<S: Source> {
    source: S,
    selected: usize,
    focus: Focus,
    pane: Pane,
    /// The selected member, or the reason why it cannot be opened.
    opened: Result<Opened<S::Error>, String>,
    /// Positions in the dimensions before the last two.
    fixed: Vec<u64>,
    /// The dimension among these that steps change.
    dim: usize,
    /// The first row and column on the screen.
    at: (u64, u64),
    first_chunk: u64,
    /// The chunk under the cursor.
    chunk: u64,
    /// The purpose of the typed text, and the text so far.
    asked: Option<(Question, String)>,
    /// The last search.
    wanted: String,
    /// The answer to the last command, if nothing else shows it.
    reply: Option<String>,
    /// Rows and columns, and columns and rows of chunks, on the last drawn screen.
    page: (u64, u64),
    chunk_page: (u64, u64),
    /// The picture of the selected member, after it was requested.
    scene: Option<Result<Scene, String>>,
}

impl<S: Source> View<S> {
    /// Opens the first member of a source.
    ///
    /// # Errors
    ///
    /// The only member cannot be opened. If there are several, the screen shows the error instead.
    pub fn new(source: S) -> Result<Self, S::Error> {
        let focus = if source.members().len() > 1 { Focus::List } else { Focus::Member };
        let mut view = Self {
            source,
            selected: 0,
            focus,
            pane: Pane::Values,
            opened: Err("nothing is in it".to_owned()),
            fixed: vec![],
            dim: 0,
            at: (0, 0),
            first_chunk: 0,
            chunk: 0,
            asked: None,
            wanted: String::new(),
            reply: None,
            page: (1, 1),
            chunk_page: (1, 1),
            scene: None,
        };
        match view.source.members() {
            [] => {}
            [_] => {
                let opened = view.source.open(0)?;
                view.show(Ok(opened));
            }
            _ => view.open(),
        }
        Ok(view)
    }

    /// Opens the selected member.
    fn open(&mut self) {
        let opened = self.source.open(self.selected);
        self.show(opened.map_err(|error| self.explain(&error)));
    }

    fn show(&mut self, opened: Result<Opened<S::Error>, String>) {
        let ndim = opened.as_ref().map_or(0, |opened| opened.shape().len());
        self.opened = opened;
        self.fixed = vec![0; ndim.saturating_sub(2)];
        (self.dim, self.at, self.scene) = (0, (0, 0), None);
        (self.first_chunk, self.chunk) = (0, 0);
    }

    fn explain(&self, error: &S::Error) -> String {
        harmless(&self.source.explain(error))
    }

    /// The members in their order.
    pub fn members(&self) -> &[Member] {
        self.source.members()
    }

    /// The number of the selected member.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// The part in which commands move.
    pub fn focus(&self) -> Focus {
        self.focus
    }

    /// The visible pane of the member.
    pub fn pane(&self) -> Pane {
        self.pane
    }

    /// The selected member.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be opened.
    pub fn opened(&self) -> Result<&Opened<S::Error>, &str> {
        self.opened.as_ref().map_err(String::as_str)
    }

    /// The first visible row and column.
    pub fn top_left(&self) -> (u64, u64) {
        self.at
    }

    /// The picture of the selected member, after it was shown; or the reason why there is none.
    pub fn scene(&self) -> Option<Result<&Scene, &str>> {
        self.scene.as_ref().map(|scene| scene.as_ref().map_err(String::as_str))
    }

    /// The name of the input, with shape and type of the selected member.
    pub fn heading(&self) -> String {
        let mut text = self.source.title();
        if let Ok(opened) = &self.opened {
            let lens: Vec<String> = opened.shape().iter().map(|len| count(*len)).collect();
            let dtype = opened.about().iter().find(|(name, _)| name == "type");
            text += &match (dtype, &lens[..]) {
                (Some((_, dtype)), []) => format!("   one item of {dtype}"),
                (Some((_, dtype)), _) => format!("   {} of {dtype}", lens.join(" x ")),
                (None, [rows, columns]) => format!("   {rows} rows, {columns} columns"),
                (None, _) => String::new(),
            };
        }
        text
    }

    /// `[<3>, 0, 12.., 40..]`: the position of the screen in the array. Steps change the marked
    /// dimension.
    pub fn position(&self) -> Option<String> {
        let opened = self.opened.as_ref().ok()?;
        let fixed = self.fixed.iter().enumerate();
        let mut parts: Vec<String> = fixed
            .map(|(dim, at)| if dim == self.dim { format!("<{at}>") } else { at.to_string() })
            .collect();
        match opened.shape().len() {
            0 => {}
            1 => parts.push(format!("{}..", self.at.0)),
            _ => parts.extend([format!("{}..", self.at.0), format!("{}..", self.at.1)]),
        }
        Some(format!("[{}]", parts.join(", ")))
    }

    /// The values of at most `rows` rows and `columns` columns.
    ///
    /// # Errors
    ///
    /// The reason why they cannot be read.
    pub fn values(&self, rows: u64, columns: u64) -> Result<Values, String> {
        let opened = self.opened.as_ref().map_err(Clone::clone)?;
        let values = opened.values(&self.fixed, self.at, rows, columns);
        values.map_err(|error| self.explain(&error))
    }

    /// Sets the number of visible rows and columns, which is the length of a page.
    pub fn set_page(&mut self, rows: u64, columns: u64) {
        self.page = (rows, columns);
    }

    /// The chunks, in at most this number of columns and rows, which become the length of a page;
    /// `None` if the member has no known chunks.
    pub fn chunk_map(&mut self, max_columns: u64, rows: u64) -> Option<ChunkMap> {
        let chunks = self.opened.as_ref().ok()?.chunks()?;
        let (columns, rows) = (chunk_map::columns(chunks, max_columns), rows.max(1));
        let (first, row) = (self.first_chunk, self.chunk / columns * columns);
        let last_row = first.saturating_add(columns.saturating_mul(rows - 1));
        let first = match self.chunk {
            chunk if chunk < first => row,
            chunk if chunk >= last_row.saturating_add(columns) => {
                row.saturating_sub(columns.saturating_mul(rows - 1))
            }
            _ => first,
        };
        let map = ChunkMap::new(chunks, (first, self.chunk), max_columns, rows);
        (self.first_chunk, self.chunk_page) = (first, (columns, rows));
        Some(map)
    }

    /// The typed text, after the letter that began it.
    pub fn question(&self) -> Option<String> {
        let (question, text) = self.asked.as_ref()?;
        let letter = if *question == Question::Index { ':' } else { '/' };
        Some(format!("{letter}{}", harmless(text)))
    }

    /// The message that the last command found nothing.
    pub fn reply(&self) -> Option<&str> {
        self.reply.as_deref()
    }

    /// Executes a command.
    pub fn execute(&mut self, command: Command) {
        self.reply = None;
        match (command, &mut self.asked) {
            (Command::Letter(letter), Some((_, text))) => return text.push(letter),
            (Command::Erase, Some((_, text))) => {
                text.pop();
                return;
            }
            (Command::Accept, asked) => match asked.take() {
                Some((Question::Index, text)) => return self.go_to(&text),
                Some((Question::Name, text)) => {
                    self.wanted = text.to_lowercase();
                    return self.find();
                }
                None => return,
            },
            _ => self.asked = None,
        }
        match command {
            Command::Ask(question) => self.asked = Some((question, String::new())),
            Command::FindNext => self.find(),
            Command::Letter(_) | Command::Erase | Command::Accept | Command::Cancel => {}
            Command::SwitchFocus => {
                let is_list = self.focus == Focus::List || self.members().len() < 2;
                self.focus = if is_list { Focus::Member } else { Focus::List };
            }
            Command::Enter => self.focus = Focus::Member,
            Command::Show(pane) => {
                self.pane = pane;
                self.draw();
            }
            Command::Step(by) => self.step(by),
            Command::NextDimension => {
                self.dim = (self.dim + 1).min(self.fixed.len().saturating_sub(1));
            }
            Command::PreviousDimension => self.dim = self.dim.saturating_sub(1),
            way if self.focus == Focus::List => self.select(way),
            way if self.pane == Pane::Chunks => self.move_chunks(way),
            way => self.move_values(way),
        }
    }

    /// Makes the picture, if its pane is visible.
    fn draw(&mut self) {
        if self.pane == Pane::Plot && self.scene.is_none() && self.opened.is_ok() {
            let scene = self.source.scene(self.selected, &self.fixed);
            self.scene = Some(scene.map_err(|error| self.explain(&error)));
        }
    }

    /// Moves to another position in a dimension before the last two.
    fn step(&mut self, by: i64) {
        let len = self.opened.as_ref().ok().and_then(|opened| opened.shape().get(self.dim));
        if let (Some(at), Some(len)) = (self.fixed.get_mut(self.dim), len) {
            *at = at.saturating_add_signed(by).min(len.saturating_sub(1));
            self.scene = None;
            self.draw();
        }
    }

    /// Moves to the row of the last number, and to a column if there is a number for each
    /// dimension; in the map of chunks, moves to a chunk.
    fn go_to(&mut self, text: &str) {
        let text = text.trim().trim_start_matches('[').trim_end_matches(']');
        let numbers = text.split(',').map(|number| number.trim().parse());
        let Ok(numbers) = numbers.collect::<Result<Vec<u64>, _>>() else {
            self.reply = Some(format!("{:?} is no index", harmless(text)));
            return;
        };
        let Some((last, before)) = numbers.split_last() else { return };
        self.focus = Focus::Member;
        if self.pane == Pane::Chunks {
            self.choose_chunk(*last);
            self.reply = (self.chunk != *last).then(|| format!("there is no chunk {last}"));
            return;
        }
        let ndim = self.opened.as_ref().map_or(0, |opened| opened.shape().len());
        let (row, column) = match before.split_last() {
            Some((row, fixed)) if numbers.len() == ndim => {
                for (dim, at) in fixed.iter().enumerate() {
                    let way = i64::try_from(*at).unwrap_or(i64::MAX);
                    self.dim = dim;
                    self.step(i64::MIN);
                    self.step(way);
                }
                (*row, *last)
            }
            _ => (numbers.first().copied().unwrap_or(0), before.last().map_or(0, |_| *last)),
        };
        let (rows, columns) = self.extent();
        self.at = (row.min(rows.saturating_sub(1)), column.min(columns.saturating_sub(1)));
        let is_near = self.at != (row, column) || numbers.len() > ndim.max(1);
        self.reply = is_near.then(|| format!("there is no index {text}: this is the nearest"));
    }

    /// Selects the next member that the last search finds.
    fn find(&mut self) {
        let len = self.members().len();
        let mut next = (1..=len).map(|way| (self.selected + way) % len);
        let is_found = |n: &usize| {
            let member = self.members().get(*n);
            member.is_some_and(|it| it.label.to_lowercase().contains(&self.wanted))
        };
        let Some(found) = next.find(is_found).filter(|_| !self.wanted.is_empty()) else {
            self.reply = Some(format!("no member has {:?} in its name", harmless(&self.wanted)));
            return;
        };
        self.selected = found;
        self.open();
        self.draw();
    }

    fn select(&mut self, way: Command) {
        let last = self.members().len().saturating_sub(1);
        let page = usize::try_from(self.page.0).unwrap_or(1).max(1);
        let selected = match way {
            Command::Up => self.selected.saturating_sub(1),
            Command::Down => self.selected.saturating_add(1),
            Command::PageUp => self.selected.saturating_sub(page),
            Command::PageDown => self.selected.saturating_add(page),
            Command::Home => 0,
            Command::End => last,
            _ => return,
        };
        let selected = selected.min(last);
        if selected != self.selected {
            self.selected = selected;
            self.open();
            self.draw();
        }
    }

    fn move_chunks(&mut self, way: Command) {
        let (columns, rows) = self.chunk_page;
        let page = columns.saturating_mul(rows);
        let (first, chunk) = (self.first_chunk, self.chunk);
        let (first, chunk) = match way {
            Command::Up => (first, chunk.checked_sub(columns).unwrap_or(chunk)),
            Command::Down => (first, chunk.saturating_add(columns)),
            Command::Left => (first, chunk.saturating_sub(1)),
            Command::Right => (first, chunk.saturating_add(1)),
            Command::PageUp => (first.saturating_sub(page), chunk.saturating_sub(page)),
            Command::PageDown => (first.saturating_add(page), chunk.saturating_add(page)),
            Command::Home => (0, 0),
            Command::End => (u64::MAX, u64::MAX),
            _ => return,
        };
        let last = self.nchunks().saturating_sub(1) / columns.max(1) * columns.max(1);
        self.first_chunk = first.min(last);
        self.choose_chunk(chunk);
    }

    fn nchunks(&self) -> u64 {
        let chunks = self.opened.as_ref().ok().and_then(Opened::chunks);
        chunks.map_or(0, |chunks| chunks.nchunks())
    }

    fn choose_chunk(&mut self, chunk: u64) {
        self.chunk = chunk.min(self.nchunks().saturating_sub(1));
    }

    /// Rows and columns through which commands can move.
    fn extent(&self) -> (u64, u64) {
        match self.opened.as_ref().map(Opened::shape) {
            Ok([.., down, across]) => (*down, *across),
            Ok([len]) => (*len, 1),
            _ => (1, 1),
        }
    }

    fn move_values(&mut self, way: Command) {
        let ((rows, columns), (row, column)) = (self.extent(), self.at);
        let (last_row, last_column) = (rows.saturating_sub(1), columns.saturating_sub(1));
        let (row, column) = match way {
            Command::Up => (row.saturating_sub(1), column),
            Command::Down => (row.saturating_add(1), column),
            Command::Left => (row, column.saturating_sub(1)),
            Command::Right => (row, column.saturating_add(1)),
            Command::PageUp => (row.saturating_sub(self.page.0), column),
            Command::PageDown => (row.saturating_add(self.page.0), column),
            Command::Home => (0, 0),
            Command::End => (last_row.saturating_sub(self.page.0.saturating_sub(1)), column),
            _ => return,
        };
        self.at = (row.min(last_row), column.min(last_column));
    }
}
