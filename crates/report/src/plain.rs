//! Texts of files, as a terminal or a comment may show them.

/// A text in which nothing steers a terminal, ends a line, or turns the direction of reading: such signs become spaces.
pub(crate) fn plain(text: &str) -> String {
    let steers = |sign: char| sign.is_control() || matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|sign| if steers(sign) { ' ' } else { sign }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers() {
        assert_eq!(plain("größe\u{1b}[31m\n\u{202e}x"), "größe [31m  x");
    }
}
