//! The stack machine: opcodes in, values out.
//!
//! Until `STOP`, values lie in an arena and refer to each other by number, as in Python's memo.
//! Then the values of the result become [`Object`]s. Limits apply to their depth, and to their
//! number if none were shared.
#![cfg_attr(
    not(test),
    expect(clippy::indexing_slicing, reason = "an Id is the position of a node that was pushed")
)]

use std::collections::HashMap;
use std::sync::Arc;

use super::numpy::{self, Function, ScalarType};
use super::{Object, PickleError};

type Result<T> = core::result::Result<T, PickleError>;

/// An index into the arena.
type Id = usize;

/// A value that is being built.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Leaf(Object),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Set(Vec<Id>),
    Function(Function),
    Dtype(ScalarType),
}

pub(super) fn run(pickle: &[u8]) -> Result<Object> {
    let mut machine = Machine { pickle, ..Machine::default() };
    loop {
        machine.start = machine.at;
        let [opcode] = machine.array()?;
        machine.opcode = opcode;
        if opcode == b'.' {
            let id = machine.pop()?;
            return machine.resolve(id);
        }
        machine.step()?;
        if machine.nodes.len() > MAX_NODES {
            return Err(machine.limit("values", MAX_NODES));
        }
    }
}

#[derive(Default)]
struct Machine<'a> {
    pickle: &'a [u8],
    at: usize,
    /// The current opcode and its position.
    opcode: u8,
    start: usize,
    nodes: Vec<Node>,
    stack: Vec<Id>,
    /// Heights of the stack.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
    resolved: HashMap<Id, Resolved>,
}

/// A finished value, or one that is being finished.
#[derive(Clone)]
enum Resolved {
    Begun,
    Done { object: Object, weight: u64 },
}

const MAX_NODES: usize = 1 << 24;
const MAX_DEPTH: usize = 200;

impl<'a> Machine<'a> {
    fn step(&mut self) -> Result<()> {
        match self.opcode {
            0x80 => self.protocol(),
            0x95 => self.skip(8),
            b'(' => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            b'0' => self.pop().map(drop),
            b'1' => self.pop_mark().map(drop),
            b'2' => {
                let id = self.top_node()?;
                self.stack.push(id);
                Ok(())
            }
            b'p' | b'q' | b'r' | 0x94 | b'g' | b'h' | b'j' => self.memoize(),
            b'N' => self.leaf(Object::None),
            0x88 => self.leaf(Object::Bool(true)),
            0x89 => self.leaf(Object::Bool(false)),
            b'I' | b'L' | b'J' | b'K' | b'M' | 0x8a | 0x8b => self.integer(),
            b'F' | b'G' => self.float(),
            b'S' | b'T' | b'U' | b'V' | b'X' | 0x8c | 0x8d => self.text(),
            b'B' | b'C' | 0x8e | 0x96 => self.bytes(),
            // The opcode only marks an out-of-band buffer as read-only; such buffers are refused
            // elsewhere.
            0x98 => Ok(()),
            _ => self.container(),
        }
    }

    fn container(&mut self) -> Result<()> {
        match self.opcode {
            b')' => self.push(Node::Tuple(vec![])),
            0x85..=0x87 => {
                let count = usize::from(self.opcode.saturating_sub(0x84));
                let items = self.pop_many(count)?;
                self.push(Node::Tuple(items))
            }
            b't' => {
                let items = self.pop_mark()?;
                self.push(Node::Tuple(items))
            }
            b']' => self.push(Node::List(vec![])),
            b'l' => {
                let items = self.pop_mark()?;
                self.push(Node::List(items))
            }
            b'a' => {
                let items = self.pop_many(1)?;
                self.extend_list(items)
            }
            b'e' => {
                let items = self.pop_mark()?;
                self.extend_list(items)
            }
            b'}' => self.push(Node::Dict(vec![])),
            b'd' => {
                let items = self.pop_mark()?;
                let entries = self.pairs(&items)?;
                self.push(Node::Dict(entries))
            }
            b's' => {
                let items = self.pop_many(2)?;
                self.extend_dict(&items)
            }
            b'u' => {
                let items = self.pop_mark()?;
                self.extend_dict(&items)
            }
            0x8f => self.push(Node::Set(vec![])),
            0x90 => {
                let items = self.pop_mark()?;
                self.extend_set(items)
            }
            0x91 => {
                let items = self.pop_mark()?;
                self.push(Node::Set(items))
            }
            b'c' | 0x93 => self.global(),
            b'R' => self.reduce(),
            b'b' => self.build(),
            opcode => Err(PickleError::Opcode { opcode, at: self.start }),
        }
    }

    fn protocol(&mut self) -> Result<()> {
        let [protocol] = self.array()?;
        if protocol > 5 { Err(self.malformed("a later protocol")) } else { Ok(()) }
    }

    fn memoize(&mut self) -> Result<()> {
        let place = match self.opcode {
            b'p' | b'g' => self.line_number()?,
            b'q' | b'h' => u64::from(self.array::<1>()?[0]),
            b'r' | b'j' => u64::from(u32::from_le_bytes(self.array()?)),
            _ => self.memo.len() as u64,
        };
        if matches!(self.opcode, b'g' | b'h' | b'j') {
            let id = self
                .memo
                .get(&place)
                .copied()
                .ok_or_else(|| self.malformed("nothing in that place"))?;
            self.stack.push(id);
        } else {
            let id = self.top_node()?;
            self.memo.insert(place, id);
        }
        Ok(())
    }

    fn integer(&mut self) -> Result<()> {
        let value = match self.opcode {
            b'J' => i32::from_le_bytes(self.array()?).into(),
            b'K' => self.array::<1>()?[0].into(),
            b'M' => u16::from_le_bytes(self.array()?).into(),
            b'I' | b'L' => return self.decimal(),
            0x8a => {
                let [len] = self.array()?;
                return self.long(len.into());
            }
            _ => {
                let len = u32::from_le_bytes(self.array()?);
                return self.long(len.into());
            }
        };
        self.leaf(Object::Int(value))
    }

    fn decimal(&mut self) -> Result<()> {
        let line = self.line()?;
        let text = core::str::from_utf8(line).unwrap_or_default();
        let value = match (self.opcode, text) {
            (b'I', "00") => Object::Bool(false),
            (b'I', "01") => Object::Bool(true),
            _ => {
                let digits = text.strip_suffix('L').unwrap_or(text);
                Object::Int(digits.parse().map_err(|_| self.malformed("not a number"))?)
            }
        };
        self.leaf(value)
    }

    fn long(&mut self, len: u64) -> Result<()> {
        let bytes = self.take(len)?;
        let value = if bytes.len() > 16 {
            Object::BigInt(bytes.into())
        } else {
            let fill = if bytes.last().is_some_and(|byte| *byte > 0x7f) { 0xff } else { 0 };
            let mut wide = [fill; 16];
            wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            Object::Int(i128::from_le_bytes(wide))
        };
        self.leaf(value)
    }

    fn float(&mut self) -> Result<()> {
        let value = if self.opcode == b'G' {
            f64::from_be_bytes(self.array()?)
        } else {
            let text = core::str::from_utf8(self.line()?).unwrap_or_default();
            text.parse().map_err(|_| self.malformed("not a number"))?
        };
        self.leaf(Object::Float(value))
    }

    fn text(&mut self) -> Result<()> {
        let object = match self.opcode {
            b'S' => {
                let line = self.line()?;
                python2(&unquoted(line).ok_or_else(|| self.malformed("not a quoted string"))?)
            }
            b'V' => Object::Str(unescaped(self.line()?).into()),
            _ => {
                let len = match self.opcode {
                    b'U' | 0x8c => u64::from(self.array::<1>()?[0]),
                    b'T' | b'X' => u64::from(u32::from_le_bytes(self.array()?)),
                    _ => u64::from_le_bytes(self.array()?),
                };
                let bytes = self.take(len)?;
                if matches!(self.opcode, b'T' | b'U') {
                    python2(bytes)
                } else {
                    // Python encodes halves of surrogate pairs like other characters.
                    Object::Str(String::from_utf8_lossy(bytes).into())
                }
            }
        };
        self.leaf(object)
    }

    fn bytes(&mut self) -> Result<()> {
        let len = match self.opcode {
            b'C' => u64::from(self.array::<1>()?[0]),
            b'B' => u64::from(u32::from_le_bytes(self.array()?)),
            _ => u64::from_le_bytes(self.array()?),
        };
        let bytes = self.take(len)?;
        self.leaf(Object::Bytes(bytes.into()))
    }

    fn global(&mut self) -> Result<()> {
        let (module, name) = if self.opcode == b'c' {
            let module = String::from_utf8_lossy(self.line()?).into_owned();
            (module, String::from_utf8_lossy(self.line()?).into_owned())
        } else {
            let names = self.pop_many(2)?;
            let text = |id: &Id| match &self.nodes[*id] {
                Node::Leaf(Object::Str(text)) => Ok(text.to_string()),
                _ => Err(self.malformed("not a name")),
            };
            match &names[..] {
                [module, name] => (text(module)?, text(name)?),
                _ => return Err(self.malformed("not a name")),
            }
        };
        let name = format!("{module}.{name}");
        let function =
            Function::known(&name).ok_or(PickleError::Global { name, at: self.start })?;
        self.push(Node::Function(function))
    }

    /// Calls a known function; each of them only builds values.
    fn reduce(&mut self) -> Result<()> {
        let called = self.pop_many(2)?;
        let [function, arguments] = called[..] else {
            return Err(self.malformed("nothing to call"));
        };
        let Node::Function(function) = self.nodes[function] else {
            return Err(self.malformed("not a known function"));
        };
        let Node::Tuple(arguments) = &self.nodes[arguments] else {
            return Err(self.malformed("not a tuple of arguments"));
        };
        let arguments: Vec<&Node> = arguments.iter().map(|id| &self.nodes[*id]).collect();
        let node = numpy::call(function, &arguments)
            .ok_or_else(|| self.malformed("not the known arguments"))?;
        self.push(node)
    }

    /// The state of a dtype: byte order and unit.
    fn build(&mut self) -> Result<()> {
        let state = self.pop()?;
        let id = self.top_node()?;
        let Node::Dtype(mut dtype) = self.nodes[id].clone() else {
            return Err(self.malformed("not a known object"));
        };
        let Node::Tuple(state) = &self.nodes[state] else {
            return Err(self.malformed("not the state of a dtype"));
        };
        let parts: Vec<&Node> = state.iter().map(|id| &self.nodes[*id]).collect();
        let unit = parts.get(8).and_then(|meta| match meta {
            Node::Tuple(meta) => match self.nodes.get(*meta.last()?)? {
                Node::Tuple(unit) => {
                    Some(unit.iter().map(|id| &self.nodes[*id]).collect::<Vec<&Node>>())
                }
                _ => None,
            },
            _ => None,
        });
        let is_known = dtype.set_state(&parts, unit.as_deref());
        self.nodes[id] = Node::Dtype(dtype);
        if is_known { Ok(()) } else { Err(self.malformed("not the state of a dtype")) }
    }

    fn extend_list(&mut self, items: Vec<Id>) -> Result<()> {
        let id = self.top_node()?;
        match &mut self.nodes[id] {
            Node::List(list) => list.extend(items),
            _ => return Err(self.malformed("not a list")),
        }
        Ok(())
    }

    fn extend_set(&mut self, items: Vec<Id>) -> Result<()> {
        let id = self.top_node()?;
        match &mut self.nodes[id] {
            Node::Set(set) => set.extend(items),
            _ => return Err(self.malformed("not a set")),
        }
        Ok(())
    }

    fn extend_dict(&mut self, items: &[Id]) -> Result<()> {
        let entries = self.pairs(items)?;
        let id = self.top_node()?;
        match &mut self.nodes[id] {
            Node::Dict(dict) => dict.extend(entries),
            _ => return Err(self.malformed("not a dict")),
        }
        Ok(())
    }

    fn pairs(&self, items: &[Id]) -> Result<Vec<(Id, Id)>> {
        let pair = |pair: &[Id]| match pair {
            [key, value] => Ok((*key, *value)),
            _ => Err(self.malformed("a key without a value")),
        };
        items.chunks(2).map(pair).collect()
    }

    fn leaf(&mut self, object: Object) -> Result<()> {
        self.push(Node::Leaf(object))
    }

    fn push(&mut self, node: Node) -> Result<()> {
        self.stack.push(self.nodes.len());
        self.nodes.push(node);
        Ok(())
    }

    fn top_node(&self) -> Result<Id> {
        let floor = self.marks.last().copied().unwrap_or(0);
        self.stack
            .get(floor..)
            .and_then(<[Id]>::last)
            .copied()
            .ok_or_else(|| self.malformed("nothing on the stack"))
    }

    fn pop(&mut self) -> Result<Id> {
        let id = self.top_node()?;
        self.stack.pop();
        Ok(id)
    }

    /// The top values of the stack, the lowest one first.
    fn pop_many(&mut self, count: usize) -> Result<Vec<Id>> {
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(self.pop()?);
        }
        items.reverse();
        Ok(items)
    }

    fn pop_mark(&mut self) -> Result<Vec<Id>> {
        let mark = self.marks.pop().ok_or_else(|| self.malformed("no mark"))?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn resolve(&mut self, id: Id) -> Result<Object> {
        self.finish(id, 0).map(|(object, _)| object)
    }

    /// The value at an index, and the number of its values if none were shared.
    fn finish(&mut self, id: Id, depth: usize) -> Result<(Object, u64)> {
        if depth > MAX_DEPTH {
            return Err(self.limit("levels", MAX_DEPTH));
        }
        match self.resolved.get(&id) {
            Some(Resolved::Begun) => return Err(self.malformed("a value that holds itself")),
            Some(Resolved::Done { object, weight }) => return Ok((object.clone(), *weight)),
            None => {}
        }
        self.resolved.insert(id, Resolved::Begun);
        let (object, weight) = match self.nodes[id].clone() {
            Node::Leaf(object) => (object, 1),
            Node::List(items) => self
                .finish_all(&items, depth)
                .map(|(items, weight)| (Object::List(items), weight))?,
            Node::Tuple(items) => self
                .finish_all(&items, depth)
                .map(|(items, weight)| (Object::Tuple(items), weight))?,
            Node::Set(items) => self
                .finish_all(&items, depth)
                .map(|(items, weight)| (Object::Set(items), weight))?,
            Node::Dict(entries) => self.finish_dict(&entries, depth)?,
            Node::Function(_) | Node::Dtype(_) => return Err(self.malformed("not a plain value")),
        };
        if weight > MAX_NODES as u64 {
            return Err(self.limit("values", MAX_NODES));
        }
        self.resolved.insert(id, Resolved::Done { object: object.clone(), weight });
        Ok((object, weight))
    }

    fn finish_all(&mut self, items: &[Id], depth: usize) -> Result<(Arc<[Object]>, u64)> {
        let mut objects = Vec::with_capacity(items.len());
        let mut total = 1;
        for id in items {
            let (object, weight) = self.finish(*id, depth.saturating_add(1))?;
            objects.push(object);
            total = weight.saturating_add(total);
        }
        Ok((objects.into(), total))
    }

    fn finish_dict(&mut self, entries: &[(Id, Id)], depth: usize) -> Result<(Object, u64)> {
        let (keys, values): (Vec<Id>, Vec<Id>) = entries.iter().copied().unzip();
        let (keys, weight) = self.finish_all(&keys, depth)?;
        let (values, more) = self.finish_all(&values, depth)?;
        let entries = keys.iter().cloned().zip(values.iter().cloned()).collect();
        Ok((Object::Dict(entries), weight.saturating_add(more)))
    }

    fn line_number(&mut self) -> Result<u64> {
        let text = core::str::from_utf8(self.line()?).unwrap_or_default();
        text.parse().map_err(|_| self.malformed("not a number"))
    }

    /// The bytes before the next line feed.
    fn line(&mut self) -> Result<&'a [u8]> {
        let rest = self.pickle.get(self.at..).unwrap_or_default();
        let Some(len) = rest.iter().position(|byte| *byte == b'\n') else {
            return Err(PickleError::Truncated { at: self.pickle.len(), needed: 1 });
        };
        self.at = self.at.saturating_add(len).saturating_add(1);
        Ok(rest.get(..len).unwrap_or_default())
    }

    fn skip(&mut self, len: u64) -> Result<()> {
        self.take(len).map(drop)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    fn take(&mut self, len: u64) -> Result<&'a [u8]> {
        let rest = self.pickle.get(self.at..).unwrap_or_default();
        let Some(bytes) = usize::try_from(len).ok().and_then(|len| rest.get(..len)) else {
            let needed = len.saturating_sub(rest.len() as u64);
            return Err(PickleError::Truncated { at: self.pickle.len(), needed });
        };
        self.at = self.at.saturating_add(bytes.len());
        Ok(bytes)
    }

    fn malformed(&self, what: &'static str) -> PickleError {
        PickleError::Malformed { opcode: self.opcode, at: self.start, what }
    }

    fn limit(&self, what: &'static str, limit: usize) -> PickleError {
        PickleError::Limit { what, limit, at: self.start }
    }
}

/// A `str` of Python 2: text if it is ASCII, bytes otherwise.
fn python2(bytes: &[u8]) -> Object {
    match core::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => Object::Str(text.into()),
        _ => Object::Bytes(bytes.into()),
    }
}

/// The bytes of a quoted string with Python's escapes.
fn unquoted(line: &[u8]) -> Option<Vec<u8>> {
    let (quote, rest) = line.split_first().filter(|(quote, _)| matches!(quote, b'\'' | b'"'))?;
    let inner = rest.strip_suffix(&[*quote])?;
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'\\' {
            bytes.push(*byte);
            continue;
        }
        let (escape, after) = rest.split_first()?;
        rest = after;
        match *escape {
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'x' => {
                let (digits, after) = rest.split_first_chunk::<2>()?;
                bytes.push(u8::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()?);
                rest = after;
            }
            other => bytes.push(other),
        }
    }
    Some(bytes)
}

/// Text with `\uXXXX` and `\UXXXXXXXX`, other bytes being Latin 1.
fn unescaped(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let [first, after @ ..] = rest {
        let digits = match after.first() {
            Some(b'u') if *first == b'\\' => 4,
            Some(b'U') if *first == b'\\' => 8,
            _ => 0,
        };
        let code = after
            .get(1..=digits)
            .filter(|_| digits > 0)
            .and_then(|digits| u32::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok());
        match code {
            Some(code) => {
                text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                rest = after.get(digits.saturating_add(1)..).unwrap_or_default();
            }
            None => {
                text.push(char::from(*first));
                rest = after;
            }
        }
    }
    text
}
