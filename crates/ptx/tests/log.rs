//! The error log has the words of ptxas. Each text of `data/log.txt` was given to ptxas 13.0.88 for `sm_90`; behind it
//! stands what that said.

use peermap_ptx::Module;

const SAID: &str = include_str!("data/log.txt");

/// A text as it is listed: a whole one, or a statement of an entry or of a module.
fn whole(listed: &str) -> String {
    let header = ".version 8.0\n.target sm_90\n.address_size 64\n";
    let registers =
        ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .local .u32 lo;";
    let (kind, text) = listed.split_once(' ').unwrap_or((listed, ""));
    let text = text.replace("\\n", "\n");
    match kind {
        "entry" => format!("{header}.entry e(.param .u64 a) {{ {registers}\n{text} }}"),
        "module" => format!("{header}{text}"),
        _ => text,
    }
}

fn log(text: &str) -> String {
    let error = Module::check_header(text, (9, 0)).and_then(|()| Module::parse(text).map(drop)).err();
    error.map_or_else(String::new, |error| error.log(text))
}

#[test]
fn the_words_are_those_of_ptxas() {
    let cases = || SAID.split("\n> ").skip(1).map(|case| case.split_once('\n').unwrap_or((case, "")));
    assert!(cases().count() > 200);
    let differ = |(listed, said): (&str, &str)| {
        let ours = log(&whole(listed));
        (ours.trim_end() != said.trim_end()).then(|| format!("{listed}\n{ours}instead of\n{said}"))
    };
    assert_eq!(cases().filter_map(differ).collect::<Vec<_>>().join("\n"), "");
}
