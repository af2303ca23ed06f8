//! The parser, from the text of an expression to its tree.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "depths and operators are counted, and both have a limit"
    )
)]

use std::prelude::v1::*;

use super::error::ExprError;
use super::function::{self, Function};

/// An expression with names resolved to indices in a list of columns.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Column(usize),
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(String),
    Not { at: usize, inner: Box<Self> },
    Negative { at: usize, inner: Box<Self> },
    IsNull { at: usize, inner: Box<Self> },
    Binary { at: usize, op: Op, sides: Box<(Self, Self)> },
    Call { at: usize, function: Function, values: Vec<Self> },
}

impl Expr {
    /// Whether it contains no column.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Self::Column(_) => false,
            Self::Bool(_) | Self::Int(_) | Self::Uint(_) | Self::Float(_) | Self::Text(_) => true,
            Self::Not { inner, .. } | Self::Negative { inner, .. } | Self::IsNull { inner, .. } => {
                inner.is_constant()
            }
            Self::Binary { sides, .. } => sides.0.is_constant() && sides.1.is_constant(),
            Self::Call { values, .. } => values.iter().all(Self::is_constant),
        }
    }
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Or,
    And,
    Xor,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    ShiftLeft,
    ShiftRight,
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
}

impl Op {
    /// The same comparison with its sides exchanged.
    pub(super) const fn turned(self) -> Option<Self> {
        Some(match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Eq | Self::Ne => self,
            _ => return None,
        })
    }
}

type Result<T> = core::result::Result<T, ExprError>;

/// Parses the text of an expression; `place` gives the index of a column.
pub(super) fn parse(text: &str, place: &mut dyn FnMut(&str) -> Option<usize>) -> Result<Expr> {
    let mut parser = Parser { text, at: 0, depth: 0, operators: 0, place };
    let expr = parser.level(0)?;
    parser.skip_blanks();
    if parser.at < text.len() { Err(parser.expected("an operator or the end")) } else { Ok(expr) }
}

/// Operators by their binding, the loosest first. Longer operators stand before their prefixes.
const LEVELS: [&[(&str, Op)]; 9] = [
    &[("or", Op::Or)],
    &[("and", Op::And)],
    &[("<=", Op::Le), (">=", Op::Ge), ("==", Op::Eq), ("!=", Op::Ne), ("<", Op::Lt), (">", Op::Gt)],
    &[("|", Op::Or)],
    &[("^", Op::Xor)],
    &[("&", Op::And)],
    &[("<<", Op::ShiftLeft), (">>", Op::ShiftRight)],
    &[("+", Op::Add), ("-", Op::Sub)],
    &[("//", Op::FloorDiv), ("/", Op::Div), ("*", Op::Mul), ("%", Op::Mod)],
];

const COMPARISON_LEVEL: usize = 2;
const MAX_DEPTH: usize = 50;

/// The most operators: a chain of them makes a tree of the same depth.
const MAX_OPERATORS: usize = 500;

struct Parser<'a, 'b> {
    text: &'a str,
    at: usize,
    depth: usize,
    operators: usize,
    place: &'b mut dyn FnMut(&str) -> Option<usize>,
}

impl<'a> Parser<'a, '_> {
    fn level(&mut self, level: usize) -> Result<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        if level == COMPARISON_LEVEL {
            let at = self.next();
            if self.take_word("not") {
                let inner = self.deeper(|parser| parser.level(level))?;
                return Ok(Expr::Not { at, inner: inner.into() });
            }
        }
        let before = self.operators;
        let mut left = self.level(level + 1)?;
        if level == COMPARISON_LEVEL {
            let inside = self.operators - before;
            match self.test(left, inside)? {
                Tested::As(test) => return Ok(test),
                Tested::Not(value) => left = value,
            }
        }
        let mut chained: Option<Expr> = None;
        let mut found = self.operator(operators);
        while let Some((at, op)) = found {
            self.count_operators(1)?;
            let before = self.operators;
            let right = self.level(level + 1)?;
            let inside = self.operators - before;
            found = self.operator(operators);
            if level != COMPARISON_LEVEL {
                left = Expr::Binary { at, op, sides: (left, right).into() };
                continue;
            }
            // `1 < a < 3` is `1 < a` and `a < 3`. The operand `a` counts twice: chains within
            // chains would double the expression each time.
            let again = match found {
                Some(_) => {
                    self.count_operators(inside)?;
                    Some(right.clone())
                }
                None => None,
            };
            let pair = Expr::Binary { at, op, sides: (left, right).into() };
            let chain = match chained {
                Some(before) => Expr::Binary { at, op: Op::And, sides: (before, pair).into() },
                None => pair,
            };
            let Some(again) = again else { return Ok(chain) };
            (chained, left) = (Some(chain), again);
        }
        Ok(chained.unwrap_or(left))
    }

    /// Tests after a value by words: `in (1, 2)`, `between 1 and 2`, `is null`, each also with
    /// `not`. The value has `inside` operators, and is copied for each comparison.
    fn test(&mut self, value: Expr, inside: usize) -> Result<Tested> {
        let start = self.next();
        let mut is_not = self.take_word("not");
        let at = self.next();
        let test = match self.word() {
            "in" => {
                self.at += "in".len();
                self.list(at, &value, inside)?
            }
            "between" => {
                self.at += "between".len();
                self.range(at, value, inside)?
            }
            "is" if !is_not => {
                self.at += "is".len();
                self.next();
                is_not = self.take_word("not");
                self.next();
                if !["null", "none", "na"].contains(&&*self.word().to_ascii_lowercase()) {
                    return Err(self.expected("`null` or `not null`"));
                }
                self.at += self.word().len();
                Expr::IsNull { at, inner: value.into() }
            }
            _ => {
                self.at = start;
                return Ok(Tested::Not(value));
            }
        };
        Ok(Tested::As(if is_not { Expr::Not { at: start, inner: test.into() } } else { test }))
    }

    /// The comparisons with each value of a list in brackets.
    fn list(&mut self, at: usize, value: &Expr, inside: usize) -> Result<Expr> {
        self.next();
        let end = match (self.take("("), self.take("[")) {
            (true, _) => ")",
            (_, true) => "]",
            _ => return Err(self.expected("values in brackets")),
        };
        let mut found: Option<Expr> = None;
        loop {
            let other = self.deeper(|parser| parser.level(COMPARISON_LEVEL + 1))?;
            self.count_operators(inside + 2)?;
            let equal = Expr::Binary { at, op: Op::Eq, sides: (value.clone(), other).into() };
            let all = match found {
                Some(before) => Expr::Binary { at, op: Op::Or, sides: (before, equal).into() },
                None => equal,
            };
            let is_next = self.take_next(",");
            if self.take_next(end) {
                return Ok(all);
            }
            if !is_next {
                return Err(self.expected("a comma or a closing bracket"));
            }
            found = Some(all);
        }
    }

    /// The comparisons with both ends of a range.
    fn range(&mut self, at: usize, value: Expr, inside: usize) -> Result<Expr> {
        self.count_operators(inside + 3)?;
        let least = self.level(COMPARISON_LEVEL + 1)?;
        self.next();
        if !self.take_word("and") {
            return Err(self.expected("`and` and the end of the range"));
        }
        let largest = self.level(COMPARISON_LEVEL + 1)?;
        let from = Expr::Binary { at, op: Op::Ge, sides: (value.clone(), least).into() };
        let to = Expr::Binary { at, op: Op::Le, sides: (value, largest).into() };
        Ok(Expr::Binary { at, op: Op::And, sides: (from, to).into() })
    }

    fn unary(&mut self) -> Result<Expr> {
        let at = self.next();
        if self.take("-") {
            let inner = self.deeper(Self::unary)?;
            return Ok(Expr::Negative { at, inner: inner.into() });
        }
        if self.take("+") {
            return self.deeper(Self::unary);
        }
        if self.take("~") {
            let inner = self.deeper(Self::unary)?;
            return Ok(Expr::Not { at, inner: inner.into() });
        }
        let base = self.atom()?;
        let at = self.next();
        if self.take("**") {
            let exponent = self.deeper(Self::unary)?;
            return Ok(Expr::Binary { at, op: Op::Pow, sides: (base, exponent).into() });
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<Expr> {
        let at = self.next();
        match self.rest().chars().next() {
            Some('(') => {
                self.at += 1;
                let inner = self.deeper(|parser| parser.level(0))?;
                if self.take_next(")") {
                    Ok(inner)
                } else {
                    Err(self.expected("a closing bracket"))
                }
            }
            Some('0'..='9' | '.') => self.number(),
            Some(quote @ ('"' | '\'')) => self.string(quote),
            Some('b')
                if self.rest().starts_with(['b']) && self.rest()[1..].starts_with(['"', '\'']) =>
            {
                self.at += 1;
                self.atom()
            }
            Some('`') => self.quoted_name(at),
            Some(c) if c == '_' || c.is_alphabetic() => self.name(at),
            _ => {
                let found = self.name_with_blanks();
                found.ok_or_else(|| self.expected("a column, a constant or a bracket"))
            }
        }
    }

    fn name(&mut self, at: usize) -> Result<Expr> {
        let (word, dotted) = (self.word(), self.dotted());
        match word {
            "True" | "true" => {
                self.at += word.len();
                return Ok(Expr::Bool(true));
            }
            "False" | "false" => {
                self.at += word.len();
                return Ok(Expr::Bool(false));
            }
            _ if self.rest()[word.len()..].trim_start().starts_with('(') => {
                self.at += word.len();
                self.take_next("(");
                return self.call(at, word, vec![]);
            }
            _ => {}
        }
        // In `trip.begin.lon`, the name may be all of it or a part, as in `name.startswith("A")`.
        let mut name = dotted;
        loop {
            if let Some(place) = (self.place)(name) {
                self.at += name.len();
                return self.method(at, Expr::Column(place), dotted);
            }
            match name.rsplit_once('.') {
                Some((shorter, _)) => name = shorter,
                None => break,
            }
        }
        if let Some(column) = self.name_with_blanks() {
            return Ok(column);
        }
        match wrong_spelling(self.rest()) {
            Some(_) => Err(self.expected("a column")),
            None => Err(ExprError::NoColumn { at, name: dotted.to_owned() }),
        }
    }

    /// A name in backquotes; two backquotes in it stand for one.
    fn quoted_name(&mut self, at: usize) -> Result<Expr> {
        let rest = &self.rest()[1..];
        let mut end = 0;
        loop {
            let Some(quote) = rest[end..].find('`') else {
                return Err(self.expected("the backquote at the end of the name"));
            };
            end += quote;
            if !rest[end + 1..].starts_with('`') {
                break;
            }
            end += 2;
        }
        let name = rest[..end].replace("``", "`");
        self.at += end + 2;
        let Some(place) = (self.place)(&name) else {
            return Err(ExprError::NoColumn { at, name });
        };
        self.method(at, Expr::Column(place), "")
    }

    /// The longest column name at the start of the text, with any characters in it.
    fn name_with_blanks(&mut self) -> Option<Expr> {
        let rest = self.rest();
        let is_word = |c: Option<char>| c.is_some_and(|c| c == '_' || c.is_alphanumeric());
        let is_end = |end: &usize| match rest.split_at_checked(*end) {
            // The end must not lie within a word.
            Some((name, next)) => !is_word(name.chars().last()) || !is_word(next.chars().next()),
            None => false,
        };
        let mut ends = (1..=rest.len().min(MAX_NAME_LEN)).rev().filter(is_end);
        let found = ends.find_map(|end| Some((end, (self.place)(&rest[..end])?)));
        let (end, place) = found?;
        self.at += end;
        Some(Expr::Column(place))
    }

    /// A column, or a method call on it: `name.startswith("A")` is `startswith(name, "A")`.
    fn method(&mut self, at: usize, column: Expr, dotted: &str) -> Result<Expr> {
        if !self.rest().starts_with('.') {
            return Ok(column);
        }
        self.at += 1;
        let name = self.word();
        self.at += name.len();
        if !self.take_next("(") {
            return Err(ExprError::NoColumn { at, name: dotted.to_owned() });
        }
        self.call(at, name, vec![column])
    }

    /// The rest of a call after its opening bracket; `values` has the object of `x.name()`.
    fn call(&mut self, at: usize, name: &str, mut values: Vec<Expr>) -> Result<Expr> {
        if ["isnull", "is_null"].contains(&name) {
            let inner = values.pop().map_or_else(|| self.deeper(|parser| parser.level(0)), Ok)?;
            return match self.take_next(")") {
                true => Ok(Expr::IsNull { at, inner: inner.into() }),
                false => Err(self.expected("a closing bracket")),
            };
        }
        let function = function::named(name);
        let function =
            function.ok_or_else(|| ExprError::NoFunction { at, name: name.to_owned() })?;
        let before = values.len();
        while !self.take_next(")") {
            if values.len() > before && !self.take_next(",") {
                return Err(self.expected("a comma or a closing bracket"));
            }
            values.push(self.deeper(|parser| parser.level(0))?);
            self.count_operators(1)?;
        }
        let (needed, found) = (function.arity(), values.len());
        if needed != found {
            return Err(ExprError::Arguments { at, function: function.name, needed, found });
        }
        Ok(Expr::Call { at, function, values })
    }

    fn number(&mut self) -> Result<Expr> {
        let rest = self.rest();
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let mut len = digits(rest);
        let mut is_float = rest[len..].starts_with('.');
        if is_float {
            len += 1 + digits(&rest[len + 1..]);
        }
        let exponent = rest[len..].strip_prefix(['e', 'E']);
        if let Some(exponent) = exponent {
            let sign = usize::from(exponent.starts_with(['+', '-']));
            let count = digits(&exponent[sign..]);
            if count > 0 {
                is_float = true;
                len += 1 + sign + count;
            }
        }
        let (text, expected) = (&rest[..len], self.expected("a number"));
        self.at += len;
        let whole = text.parse().map(Expr::Int).or_else(|_| text.parse().map(Expr::Uint));
        match whole {
            Ok(expr) if !is_float => Ok(expr),
            _ => text.parse().map(Expr::Float).map_err(|_| expected),
        }
    }

    fn string(&mut self, quote: char) -> Result<Expr> {
        self.at += 1;
        let rest = self.rest();
        let end = rest.find([quote, '\\']).ok_or_else(|| self.expected("the end of the string"))?;
        if rest[end..].starts_with('\\') {
            self.at += end;
            return Err(self.expected("a string without escapes"));
        }
        self.at += end + 1;
        Ok(Expr::Text(rest[..end].to_owned()))
    }

    fn operator(&mut self, operators: &[(&str, Op)]) -> Option<(usize, Op)> {
        let at = self.next();
        // `**` belongs to a tighter level; the others are operators of other languages.
        let longer = ["**", "&&", "||", "<>"];
        let is_longer = |text: &str| {
            let mut longer = longer.iter().filter(|longer| self.rest().starts_with(**longer));
            longer.any(|longer| text.len() == 1 && longer.starts_with(text))
        };
        let found = operators.iter().find(|(text, _)| {
            let is_word = text.starts_with(char::is_alphabetic);
            if is_word {
                self.word() == *text
            } else {
                self.rest().starts_with(text) && !is_longer(text)
            }
        });
        let (text, op) = found?;
        self.at += text.len();
        Some((at, *op))
    }

    fn count_operators(&mut self, n: usize) -> Result<()> {
        self.operators += n;
        if self.operators > MAX_OPERATORS { Err(self.expected("fewer operators")) } else { Ok(()) }
    }

    fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> Result<Expr>) -> Result<Expr> {
        if self.depth == MAX_DEPTH {
            return Err(self.expected("less nesting"));
        }
        self.depth += 1;
        let expr = inner(self);
        self.depth -= 1;
        expr
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn take_next(&mut self, text: &str) -> bool {
        self.next();
        self.take(text)
    }

    fn take_word(&mut self, word: &str) -> bool {
        self.word() == word && self.take(word)
    }

    /// The name that begins here, with the parts after its dots.
    fn dotted(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| c != '_' && c != '.' && !c.is_alphanumeric());
        let name = &rest[..end.unwrap_or(rest.len())];
        name.trim_end_matches('.')
    }

    /// The word that begins here.
    fn word(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
        &rest[..end]
    }

    /// Skips blanks; returns the position after them.
    fn next(&mut self) -> usize {
        self.skip_blanks();
        self.at
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn expected(&self, expected: &'static str) -> ExprError {
        let expected = wrong_spelling(self.rest()).unwrap_or(expected);
        ExprError::Syntax { at: self.at, expected }
    }
}

/// A column's name in a form for any expression: in backquotes unless it consists of words joined
/// by dots.
#[must_use]
pub fn spelled(name: &str) -> String {
    let is_word = |part: &str| {
        part.starts_with(|c: char| c == '_' || c.is_alphabetic())
            && part.chars().all(|c| c == '_' || c.is_alphanumeric())
    };
    let is_reserved = matches!(name, "True" | "true" | "False" | "false" | "not");
    match name.split('.').all(is_word) && !is_reserved {
        true => name.to_owned(),
        false => format!("`{}`", name.replace('`', "``")),
    }
}

/// A value after looking for a test: `As` is the test, `Not` the value alone.
enum Tested {
    As(Expr),
    Not(Expr),
}

/// The longest name without backquotes that is tried (bytes).
const MAX_NAME_LEN: usize = 200;

/// The right spelling for an operator of another language at the start of `rest`.
fn wrong_spelling(rest: &str) -> Option<&'static str> {
    let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
    let word = &rest[..end];
    let is_upper = word.starts_with(|c: char| c.is_ascii_uppercase());
    let words = [
        ("and", "`and`", is_upper),
        ("or", "`or`", is_upper),
        ("not", "`not`", is_upper),
        ("in", "`in`, as in a in (1, 2)", is_upper),
        ("is", "`is null` or `is not null`", is_upper),
        ("between", "`between`, as in a between 1 and 2", is_upper),
        ("true", "`true`", is_upper),
        ("false", "`false`", is_upper),
        ("like", "contains(a, \"text\"), startswith(a, \"text\") or endswith(a, \"text\")", true),
        ("null", "`is null` or `is not null` after a column", true),
        ("none", "`is null` or `is not null` after a column", true),
        ("na", "`is null` or `is not null` after a column", true),
        ("nan", "isnan(a), which is true where a is NaN", true),
        ("inf", "isinf(a), which is true where a is infinite", true),
    ];
    let known =
        words.iter().find(|(known, _, is_wrong)| *is_wrong && word.eq_ignore_ascii_case(known));
    let symbols = [
        ("&&", "`and`"),
        ("||", "`or`"),
        ("<>", "`!=`"),
        ("!=", ""),
        ("==", ""),
        ("=", "`==`, as in a == 1"),
        ("!", "`not`"),
    ];
    let symbol = || symbols.iter().find(|(known, _)| rest.starts_with(known));
    let right = known.map(|(_, right, _)| *right).or_else(|| symbol().map(|(_, right)| *right));
    right.filter(|right| !right.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expression with all of its brackets; columns are `a` to `c`.
    fn show(text: &str) -> String {
        fn print(expr: &Expr) -> String {
            match expr {
                Expr::Column(place) => ["a", "b", "c"][*place].to_owned(),
                Expr::Bool(value) => value.to_string(),
                Expr::Int(value) => value.to_string(),
                Expr::Uint(value) => value.to_string(),
                Expr::Float(value) => format!("{value:?}"),
                Expr::Text(text) => format!("{text:?}"),
                Expr::Not { inner, .. } => format!("~{}", print(inner)),
                Expr::Negative { inner, .. } => format!("-{}", print(inner)),
                Expr::IsNull { inner, .. } => format!("null({})", print(inner)),
                Expr::Call { function, values, .. } => {
                    let values: Vec<String> = values.iter().map(print).collect();
                    format!("{}({})", function.name, values.join(", "))
                }
                Expr::Binary { op, sides, .. } => {
                    format!("({} {op:?} {})", print(&sides.0), print(&sides.1))
                }
            }
        }
        match parse(text, &mut |name| ["a", "b", "c"].iter().position(|known| *known == name)) {
            Ok(expr) => print(&expr),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn operators_bind_as_in_python() {
        for (text, expected) in [
            ("a + b * c", "(a Add (b Mul c))"),
            ("(a > 1) & (b < 2) | ~c", "(((a Gt 1) And (b Lt 2)) Or ~c)"),
            ("a > 1 & b", "(a Gt (1 And b))"),
            ("not a == 1 and b or c", "((~(a Eq 1) And b) Or c)"),
            ("1 < a <= 3", "((1 Lt a) And (a Le 3))"),
            ("-a ** 2", "-(a Pow 2)"),
            ("a ** -b ** 2", "(a Pow -(b Pow 2))"),
            ("a // 2 % 3 / 4", "(((a FloorDiv 2) Mod 3) Div 4)"),
            ("a - 1 - 2", "((a Sub 1) Sub 2)"),
            ("a == 'x y' ", "(a Eq \"x y\")"),
            ("a==b'x'", "(a Eq \"x\")"),
            ("1.5e3 + .5 + 2. + 1e-2", "(((1500.0 Add 0.5) Add 2.0) Add 0.01)"),
            ("18446744073709551615", "18446744073709551615"),
            ("True | false", "(true Or false)"),
            ("a << 1 < b >> 2 + c", "((a ShiftLeft 1) Lt (b ShiftRight (2 Add c)))"),
            ("sqrt (a) > where(b<1, c, -1)", "(sqrt(a) Gt where((b Lt 1), c, -1))"),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused_with_its_place() {
        for (text, expected) in [
            ("", "at byte 0: expected a column, a constant or a bracket"),
            ("a >", "at byte 3: expected a column, a constant or a bracket"),
            ("(a", "at byte 2: expected a closing bracket"),
            ("a b", "at byte 2: expected an operator or the end"),
            ("a + x", "at byte 4: no column \"x\""),
            ("a = 1", "at byte 2: expected `==`, as in a == 1"),
            ("'abc", "at byte 1: expected the end of the string"),
            ("eval(a)", "at byte 0: no function \"eval\""),
            ("1 + exp(a, b)", "at byte 4: exp takes 1 value, not 2"),
            ("hypot()", "at byte 0: hypot takes 2 values, not 0"),
            ("abs(a b)", "at byte 6: expected a comma or a closing bracket"),
            ("abs(a", "at byte 5: expected a comma or a closing bracket"),
            ("os.system", "at byte 0: no column \"os.system\""),
            ("a.b", "at byte 0: no column \"a.b\""),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
        assert!(show(&"(".repeat(10_000)).contains("less nesting"));
        assert!(show(&"-".repeat(10_000)).contains("less nesting"));
        assert!(show(&"abs(".repeat(10_000)).contains("less nesting"));
        assert!(show(&format!("hypot({})", "a,".repeat(10_000))).contains("fewer operators"));
        assert!(show(&"a+".repeat(10_000)).contains("fewer operators"));
        // Found by a fuzz target: each chain copied its inner part.
        let nested = |n| format!("{}a{}", "(a < ".repeat(n), " < b)".repeat(n));
        assert!(show(&nested(40)).contains("fewer operators"));
        assert!(show(&nested(5)).ends_with(')'));
    }

    #[test]
    fn lists_ranges_and_nulls_are_tests() {
        for (text, expected) in [
            ("a in (1, 2)", "((a Eq 1) Or (a Eq 2))"),
            ("a in ['x',]", "(a Eq \"x\")"),
            ("a not in (1) and b", "(~(a Eq 1) And b)"),
            ("a between 1 and 2 and b", "(((a Ge 1) And (a Le 2)) And b)"),
            ("not a + 1 not between b and c", "~~(((a Add 1) Ge b) And ((a Add 1) Le c))"),
            ("a is null or b is not None", "(null(a) Or ~null(b))"),
            ("is_null(a) & isnull(b)", "(null(a) And null(b))"),
            ("a.isnull()", "null(a)"),
            (
                "a.startswith('x') | endswith(b, 'y')",
                "(startswith(a, \"x\") Or endswith(b, \"y\"))",
            ),
            ("a in ()", "at byte 6: expected a column, a constant or a bracket"),
            ("a in 1", "at byte 5: expected values in brackets"),
            ("a in (1 2)", "at byte 8: expected a comma or a closing bracket"),
            ("a between 1", "at byte 11: expected `and` and the end of the range"),
            ("a is 1", "at byte 5: expected `null` or `not null`"),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
        assert!(show(&format!("a in ({})", "1,".repeat(10_000))).contains("fewer operators"));
        let nested = |n| format!("{}a{}", "(".repeat(n), " in (1, 2))".repeat(n));
        assert!(show(&nested(40)).contains("fewer operators"));
    }

    #[test]
    fn spellings_of_other_languages_are_told() {
        for (text, at, right) in [
            ("a = 1", 2, "`==`"),
            ("a === 1", 4, "`==`"),
            ("a > 1 && b", 6, "`and`"),
            ("(a || b)", 3, "`or`"),
            ("a AND b", 2, "`and`"),
            ("a Or b", 2, "`or`"),
            ("NOT a", 0, "`not`"),
            ("!a", 0, "`not`"),
            ("a <> 1", 2, "`!=`"),
            ("a IN (1)", 2, "`in`"),
            ("a IS NULL", 2, "`is null`"),
            ("a BETWEEN 1 and 2", 2, "`between`"),
            ("a like 'x%'", 2, "startswith"),
            ("a == null", 5, "`is null`"),
            ("a == None", 5, "`is null`"),
            ("a == TRUE", 5, "`true`"),
        ] {
            let found = show(text);
            assert!(found.starts_with(&format!("at byte {at}: expected ")), "{text}: {found}");
            assert!(found.contains(right), "{text}: {found}");
        }
    }

    #[test]
    fn every_column_can_be_named() {
        let names = ["a", "trip.begin.lon", "Adj Close", "x-y", "a`b", "1st", "\u{20ac}", "a - b"];
        for (text, column) in [
            ("trip.begin.lon > 2", Some(1)),
            ("`trip.begin.lon` > 2", Some(1)),
            ("Adj Close > 2", Some(2)),
            ("(`Adj Close`) > 2", Some(2)),
            ("x-y > 2", Some(3)),
            ("`a``b` > 2", Some(4)),
            ("`1st` > 2", Some(5)),
            ("\u{20ac} > 2", Some(6)),
            ("`a - b` > 2", Some(7)),
            ("a > 2", Some(0)),
            ("trip.begin > 2", None),
            ("Adj > 2", None),
            ("`Adj Close > 2", None),
        ] {
            let parsed = parse(text, &mut |name| names.iter().position(|known| *known == name));
            let found = parsed.ok().and_then(|expr| match expr {
                Expr::Binary { sides, .. } => match sides.0 {
                    Expr::Column(place) => Some(place),
                    _ => None,
                },
                _ => None,
            });
            assert_eq!(found, column, "{text}");
        }
        for (place, name) in names.iter().enumerate() {
            let text = spelled(name);
            let parsed = parse(&text, &mut |name| names.iter().position(|known| *known == name));
            assert_eq!(parsed, Ok(Expr::Column(place)), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "[absqrté0-9 .,eE+\\-*/%&|~^()<>=!'\"`nodi]{0,40}") {
            show(&text);
        }
    }
}
