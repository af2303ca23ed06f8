//! Options of `view`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `b2 view`.
#[derive(Args, Debug)]
pub(crate) struct ViewArgs {
    /// The file, the directory, or the value of a store to look at; several files with --web
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Serve the page for web browsers and these files on 127.0.0.1, until Ctrl-C
    #[arg(long, conflicts_with = "picture", help_heading = "Browser")]
    pub(crate) web: bool,
    /// The port of --web; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 0, requires = "web", help_heading = "Browser")]
    pub(crate) port: u16,
    /// Print the addresses only: else the browser of the desktop opens the first
    #[arg(long, requires = "web", help_heading = "Browser")]
    pub(crate) no_browser: bool,
    /// Write the screen as it is after --keys to a PNG file, and end
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) picture: Option<PathBuf>,
    /// Keys to press for --picture: letters, comma, up, down, left, right, pgup, pgdn, home, end,
    /// tab, enter
    #[arg(
        long,
        value_name = "KEY,KEY",
        value_delimiter = ',',
        requires = "picture",
        help_heading = "Output"
    )]
    pub(crate) keys: Vec<String>,
    /// Columns and rows of the screen of --picture
    #[arg(long, value_name = "CxR", value_parser = parse_screen, default_value = "100x28", requires = "picture", help_heading = "Output")]
    pub(crate) size: Screen,
    /// Overwrite the PNG file
    #[arg(short, long, requires = "picture", help_heading = "Output")]
    pub(crate) force: bool,
}

/// Columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen(pub(crate) (u16, u16));

/// `100x28`.
fn parse_screen(text: &str) -> Result<Screen, String> {
    let sides = text.split_once('x').and_then(|(columns, rows)| {
        Some((columns.parse::<u16>().ok()?, rows.parse::<u16>().ok()?))
    });
    let is_screen =
        |(columns, rows): &(u16, u16)| (20..=400).contains(columns) && (5..=200).contains(rows);
    let wrong =
        || format!("{text:?} is no screen like 100x28, of 20 to 400 columns and 5 to 200 rows");
    sides.filter(is_screen).map(Screen).ok_or_else(wrong)
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  b2 view field.b2nd
  b2 view run.b2z                   the values and tables of a store
  b2 view run.b2z::/climate/field   one of them
  b2 view trades.bcolz              the columns of a table
  b2 view --picture chunks.png --keys c field.b2nd
  b2 view --web field.b2nd run.b2z  in a web browser, also over SSH and in Jupyter

Keys: q ends, ? shows all keys; arrows, PgUp, PgDn, g, G move, : goes to an index;
Tab goes to the list and back, / searches a member; [ and ] step through the dimension
that { and } choose; v values, i what it is, c chunks, p a plot.";
