//! Exit codes: one meaning each, the same for every command.

use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// Done; the data are sound.
    #[default]
    Success = 0,
    /// The data are damaged, cut off or different.
    Data = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The system refuses: missing file, permission, full disk.
    System = 3,
    /// The format, version, codec or filter is unknown.
    Foreign = 4,
    /// A limit was reached.
    Limit = 5,
    /// Another program holds the lock.
    Locked = 6,
}

impl Code {
    /// The code of a run over several inputs: that of the first failure.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        if self == Self::Success { next } else { self }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_decides() {
        assert_eq!(Code::Success.and(Code::Foreign), Code::Foreign);
        assert_eq!(Code::Data.and(Code::Foreign), Code::Data);
        assert_eq!(Code::Data.and(Code::Success), Code::Data);
    }
}
