//! From the text of an expression to its tree.
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

/// An expression; names are already places in a list of columns.
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
    Binary { at: usize, op: Op, sides: Box<(Self, Self)> },
    Call { at: usize, function: Function, values: Vec<Self> },
}

impl Expr {
    /// Whether it names no column.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Self::Column(_) => false,
            Self::Bool(_) | Self::Int(_) | Self::Uint(_) | Self::Float(_) | Self::Text(_) => true,
            Self::Not { inner, .. } | Self::Negative { inner, .. } => inner.is_constant(),
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
    /// The comparison that says the same with its sides exchanged.
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

/// The expression of a text; `place` knows the columns.
pub(super) fn parse(text: &str, place: &mut dyn FnMut(&str) -> Option<usize>) -> Result<Expr> {
    let mut parser = Parser { text, at: 0, depth: 0, operators: 0, place };
    let expr = parser.level(0)?;
    parser.skip_blanks();
    if parser.at < text.len() { Err(parser.expected("an operator or the end")) } else { Ok(expr) }
}

/// Operators by their binding, the loosest first. Longer ones stand before those that they begin
/// with.
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

/// A chain of operators is a tree as deep.
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
        let mut left = self.level(level + 1)?;
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
            // `1 < a < 3` is `1 < a` and `a < 3`. What `a` stands for counts twice: chains within
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
            Some(c) if c == '_' || c.is_alphabetic() => self.name(at),
            _ => Err(self.expected("a column, a constant or a bracket")),
        }
    }

    fn name(&mut self, at: usize) -> Result<Expr> {
        let name = self.word();
        self.at += name.len();
        match name {
            "True" | "true" => Ok(Expr::Bool(true)),
            "False" | "false" => Ok(Expr::Bool(false)),
            _ if self.take_next("(") => self.call(at, name),
            _ => (self.place)(name)
                .map(Expr::Column)
                .ok_or_else(|| ExprError::NoColumn { at, name: name.to_owned() }),
        }
    }

    /// The rest of a call, from behind its opening bracket.
    fn call(&mut self, at: usize, name: &str) -> Result<Expr> {
        let function = function::named(name);
        let function =
            function.ok_or_else(|| ExprError::NoFunction { at, name: name.to_owned() })?;
        let mut values = Vec::new();
        while !self.take_next(")") {
            if !values.is_empty() && !self.take_next(",") {
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
        // Those belong to tighter levels.
        let is_longer = |text: &str| text == "*" && self.rest().starts_with("**");
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

    /// The name that begins here.
    fn word(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
        &rest[..end]
    }

    /// Skips blanks; where the next thing stands.
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
        ExprError::Syntax { at: self.at, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expression with all its brackets; columns are `a` to `c`.
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
            ("a = 1", "at byte 2: expected an operator or the end"),
            ("'abc", "at byte 1: expected the end of the string"),
            ("eval(a)", "at byte 0: no function \"eval\""),
            ("1 + exp(a, b)", "at byte 4: exp takes 1 value, not 2"),
            ("hypot()", "at byte 0: hypot takes 2 values, not 0"),
            ("abs(a b)", "at byte 6: expected a comma or a closing bracket"),
            ("abs(a", "at byte 5: expected a comma or a closing bracket"),
            ("os.system", "at byte 0: no column \"os\""),
            ("a.b", "at byte 1: expected an operator or the end"),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
        assert!(show(&"(".repeat(10_000)).contains("less nesting"));
        assert!(show(&"-".repeat(10_000)).contains("less nesting"));
        assert!(show(&"abs(".repeat(10_000)).contains("less nesting"));
        assert!(show(&format!("hypot({})", "a,".repeat(10_000))).contains("fewer operators"));
        assert!(show(&"a+".repeat(10_000)).contains("fewer operators"));
        // Found by a fuzz target: each chain held what is within it twice.
        let nested = |n| format!("{}a{}", "(a < ".repeat(n), " < b)".repeat(n));
        assert!(show(&nested(40)).contains("fewer operators"));
        assert!(show(&nested(5)).ends_with(')'));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "[absqrté0-9 .,eE+\\-*/%&|~^()<>=!'\"nod]{0,40}") {
            show(&text);
        }
    }
}
