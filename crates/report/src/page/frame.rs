//! What every page of the project shares: the document around it, and the style of the house.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Colours, fonts and what all pages are laid out with.
const HOUSE: &str = include_str!("house.css");

/// A page with a title, its own style and its body. It loads nothing.
#[must_use]
pub fn frame(title: &str, style: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(HOUSE)) (PreEscaped(style)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_in_the_title_and_the_body() {
        let page = frame("a < b", "", &html! { p title="\"x\"" { "<script>" } });
        assert!(page.contains("<title>a &lt; b</title>"), "{page}");
        assert!(page.contains("<p title=\"&quot;x&quot;\">&lt;script&gt;</p>"), "{page}");
    }
}
