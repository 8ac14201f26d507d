//! What instructions need of the version and the target of a text, and what the error log says about it: each statement
//! of `data/needs.txt` was given to ptxas 13.0.88.

use std::collections::BTreeSet;

use peermap_ptx::{Module, PtxProblem};

const SAID: &str = include_str!("data/needs.txt");
const DECLARATIONS: &str = include_str!("data/declarations.ptx");

/// A header and what ptxas says to statements behind it.
struct Said {
    version: &'static str,
    target: &'static str,
    statements: Vec<(&'static str, Vec<&'static str>)>,
}

fn said() -> Vec<Said> {
    let headers = SAID.split("\n> ").skip(1);
    headers
        .map(|text| {
            let (header, listed) = text.split_once('\n').expect("a header and statements");
            let (version, target) = header.split_once(' ').expect("a version and a target");
            let mut statements: Vec<(&str, Vec<&str>)> = Vec::new();
            for line in listed.lines() {
                match (line.strip_prefix("  "), statements.last_mut()) {
                    (Some(words), Some((_, said))) => said.push(words),
                    _ => statements.push((line, Vec::new())),
                }
            }
            Said { version, target, statements }
        })
        .collect()
}

/// The text that has a statement behind the declarations, without those that need a later version themselves.
fn text(version: &str, target: &str, statement: &str) -> String {
    let is_named = |line: &&str| !line.contains(".b128") || statement.contains("%q");
    let (_, declared) = DECLARATIONS.split_once(".address_size 64").expect("a header");
    let declared: Vec<&str> = declared.lines().filter(|line| !line.contains(".f16")).filter(is_named).collect();
    format!(".version {version}\n.target {target}\n.address_size 64\n{}\n{statement}\n}}\n", declared.join("\n"))
}

/// What the log says about the statement, which stands in the last line but one.
fn log(text: &str) -> Vec<String> {
    let place = format!("line {}; error   : ", text.lines().count() - 1);
    let log = Module::parse(text).err().map_or_else(String::new, |error| error.log(text));
    log.lines().filter_map(|line| Some(line.split_once(&place)?.1.to_owned())).collect()
}

#[test]
fn the_words_are_those_of_ptxas() {
    let all: BTreeSet<&str> = said().iter().flat_map(|said| said.statements.iter().map(|(text, _)| *text)).collect();
    assert!(all.len() > 300);
    for Said { version, target, statements } in said() {
        for statement in &all {
            let found = statements.iter().find(|(text, _)| text == statement);
            let expected = found.map_or_else(Vec::new, |(_, words)| words.clone());
            assert_eq!(log(&text(version, target, statement)), expected, "{statement} in {version} for {target}");
        }
    }
}

#[test]
fn the_error_names_the_place_and_all_that_is_lacking() {
    let text = ".version 7.0\n.target sm_75\n.address_size 64\n.entry e() {\n .reg .b32 %r<3>;\n redux.sync.add.s32 %r1, %r2, -1;\n}\n";
    let error = Module::parse(text).expect_err("sm_75 has no redux");
    assert_eq!(
        error.to_string(),
        "line 6; error: version 7.0 for sm_75: Feature 'redux' needs `.target sm_80` or higher (column 2)"
    );
    assert!(matches!(error.problem, PtxProblem::Unmet { unmet, .. } if unmet.len() == 1));
}

#[test]
fn what_stands_first_is_told_first() {
    let body = |first: &str, second: &str| {
        let text = format!(
            ".version 6.0\n.target sm_60\n.address_size 64\n.entry e() {{\n.reg .b32 %r<3>;\n{first}\n{second}\n}}\n"
        );
        Module::parse(&text).expect_err("both are wrong").at.line
    };
    assert_eq!(body("nanosleep.u32 1;", "mov.u32 %r1, %nope;"), 6);
    assert_eq!(body("mov.u32 %r1, %nope;", "nanosleep.u32 1;"), 6);
}

#[test]
fn directives_need_something_too() {
    let log = |statement: &str| {
        let text = format!(".version 6.0\n.target sm_60\n.address_size 64\n{statement}\n");
        let log = Module::parse(&text).expect_err(statement).log(&text);
        log.lines().filter_map(|line| Some(line.split_once("error   : ")?.1.to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(
        log(".entry k() .maxclusterrank 4 { ret; }"),
        [
            "Feature '.maxclusterrank' requires PTX ISA .version 7.8 or later",
            "Feature '.maxclusterrank' requires .target sm_90 or higher"
        ]
    );
    assert_eq!(log(".func f() .noreturn { ret; }"), ["Feature '.noreturn' requires PTX ISA .version 6.4 or later"]);
    assert_eq!(log(".func f() { ret; }\n.alias g, f;")[0], "Feature '.alias' requires PTX ISA .version 6.3 or later");
    assert_eq!(log(".global .b128 q;")[1], "Feature 'Type .b128' requires .target sm_70 or higher");
}
