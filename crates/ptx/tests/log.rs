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
    let error = Module::check_header(text, (9, 0), 90).and_then(|()| Module::parse(text).map(drop)).err();
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

#[test]
fn code_of_another_architecture_is_refused_as_ptxas_does() {
    let log = |target: &str, device| {
        let text = format!(".version 9.0\n.target {target}\n.address_size 64\n");
        Module::check_header(&text, (9, 0), device).map_err(|error| error.log(&text))
    };
    let above = "ptxas fatal   : SM version specified by .target is higher than default SM version assumed\n";
    let of_others = "ptxas fatal   : Program with .target 'sm_90a' cannot be compiled to future architecture\n";
    let family =
        "ptxas fatal   : Program with .target 'sm_100f' cannot be compiled to different SM-family architecture\n";
    for (target, device, said) in [
        ("sm_90", 90, None),
        ("sm_90a", 90, None),
        ("sm_52", 90, None),
        ("sm_100f", 103, None),
        ("sm_103", 120, None),
        ("sm_100", 90, Some(above)),
        ("sm_103", 100, Some(above)),
        ("sm_90a", 100, Some(of_others)),
        ("sm_100f", 120, Some(family)),
    ] {
        assert_eq!(log(target, device).err().as_deref(), said, "{target} for sm_{device}");
    }
}
