//! Where statements end, without reading them.

use crate::lexer::Token;

/// Directives whose statement ends with the line.
const LINES: [&str; 5] = [".version", ".target", ".address_size", ".loc", ".file"];

/// The statements of a text. A brace around statements is one of its own, and so is a label with its colon; what no
/// statement ends comes last.
pub(crate) fn statements<'t, 'a>(tokens: &'t [Token<'a>]) -> impl Iterator<Item = &'t [Token<'a>]> {
    let mut rest = tokens;
    std::iter::from_fn(move || {
        let end = (0..rest.len()).find(|index| ends(&rest[..=*index], rest.get(index + 1)));
        let length = end.map_or(rest.len(), |last| last + 1);
        let (statement, behind) = rest.split_at(length);
        rest = behind;
        (length > 0).then_some(statement)
    })
}

/// Whether a statement, read so far, ends here.
fn ends(read: &[Token<'_>], next: Option<&Token<'_>>) -> bool {
    let (first, last) = (read[0], read[read.len() - 1]);
    let is_function = || read.iter().any(|token| token.is(".entry") || token.is(".func"));
    let ends_with_line = || next.is_some_and(|next| next.at.line != last.at.line);
    match last.text {
        ";" => true,
        "{" | "}" if read.len() == 1 => true,
        "{" => is_function(),
        ":" => read.len() == 2,
        _ => LINES.contains(&first.text) && ends_with_line(),
    }
}
