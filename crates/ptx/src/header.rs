//! The directives that a module begins with.

use crate::cursor::Cursor;
use crate::error::{PtxError, PtxProblem};
use crate::lexer::Position;
use crate::target::first_version;

/// `.version`, `.target` and `.address_size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) version: (u8, u8),
    pub(crate) version_at: Position,
    pub(crate) target: Target,
    pub(crate) address_size: u8,
}

/// What one `.target` directive lists: the architecture and options such as `debug`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) options: Vec<String>,
    pub(crate) at: Position,
}

impl Target {
    /// The number in `sm_<number>`, perhaps with an `a` or `f` behind it.
    pub(crate) fn sm(&self) -> Option<u32> {
        let number = self.name.strip_prefix("sm_")?;
        number.strip_suffix(['a', 'f']).unwrap_or(number).parse().ok()
    }

    /// Takes over a further `.target`: the module then needs the higher architecture of the two.
    pub(crate) fn join(&mut self, other: Self) {
        if other.sm() > self.sm() {
            (self.name, self.at) = (other.name, other.at);
        }
        self.options.extend(other.options);
    }
}

impl Header {
    /// Whether a driver that knows no later version than `newest` compiles this for a device, in the order of its checks.
    pub(crate) fn check(&self, newest: (u8, u8), device: u32) -> Result<(), PtxError> {
        let version = self.version;
        if version > newest {
            return Err(PtxError { at: self.version_at, problem: PtxProblem::UnsupportedVersion { version, newest } });
        }
        self.check_target(device).map_err(|problem| PtxError { at: self.target.at, problem })
    }

    fn check_target(&self, device: u32) -> Result<(), PtxProblem> {
        let (name, version) = (self.target.name.clone(), self.version);
        let (Some(first), Some(sm)) = (first_version(&name), self.target.sm()) else {
            return Err(PtxProblem::UnknownTarget { name });
        };
        if sm > device {
            return Err(PtxProblem::TargetAbove { name, device });
        }
        let runs_here = match name.as_bytes().last() {
            Some(b'a') => sm == device,
            // A family is what has the same number of tens.
            Some(b'f') => sm / 10 == device / 10,
            _ => true,
        };
        if !runs_here {
            return Err(PtxProblem::TargetOfOthers { name, device });
        }
        if version < first {
            return Err(PtxProblem::TargetNeedsVersion { name, version, first });
        }
        Ok(())
    }
}

pub(crate) fn parse(cursor: &mut Cursor<'_, '_>) -> Result<Header, PtxError> {
    let version_at = cursor.at();
    directive(cursor, ".version")?;
    let version = version(cursor)?;
    directive(cursor, ".target")?;
    let target = target(cursor)?;
    directive(cursor, ".address_size")?;
    let address_size = address_size(cursor)?;
    Ok(Header { version, version_at, target, address_size })
}

fn directive(cursor: &mut Cursor<'_, '_>, directive: &'static str) -> Result<(), PtxError> {
    let missing = cursor.error(PtxProblem::MissingHeader { directive, found: cursor.found() });
    if cursor.accept(directive) { Ok(()) } else { Err(missing) }
}

fn version(cursor: &mut Cursor<'_, '_>) -> Result<(u8, u8), PtxError> {
    let invalid = cursor.error(PtxProblem::InvalidVersion { found: cursor.found() });
    let parts = cursor.peek().and_then(|token| token.text.split_once('.'));
    let number = |(major, minor): (&str, &str)| Some((major.parse().ok()?, minor.parse().ok()?));
    let version = parts.and_then(number).ok_or(invalid)?;
    cursor.advance();
    Ok(version)
}

/// What stands behind `.target`.
pub(crate) fn target(cursor: &mut Cursor<'_, '_>) -> Result<Target, PtxError> {
    let at = cursor.at();
    let name = cursor.identifier("a target such as `sm_75`")?.text.to_owned();
    let mut options = Vec::new();
    while cursor.accept(",") {
        options.push(cursor.identifier("a target option such as `debug`")?.text.to_owned());
    }
    Ok(Target { name, options, at })
}

fn address_size(cursor: &mut Cursor<'_, '_>) -> Result<u8, PtxError> {
    match cursor.peek().and_then(|token| token.integer()) {
        Some(64) => {
            cursor.advance();
            Ok(64)
        }
        Some(32) => Err(cursor.error(PtxProblem::AddressSize32)),
        _ => Err(cursor.unexpected("`64`")),
    }
}
