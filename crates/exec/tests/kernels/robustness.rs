//! Whatever legal instructions a body is made of, compiling it and running it ends with an answer.

use std::sync::LazyLock;
use std::time::Duration;

use peermap_exec::{Cause, CompileError, Kernel, Launch};
use peermap_ptx::Module;
use proptest::prelude::*;
use proptest::sample::select;

use crate::rig::Rig;

/// What the statements may name.
const DECLARATIONS: &str = include_str!("../../../ptx/tests/data/declarations.ptx");

/// Legal statements, one a line.
const STATEMENTS: &str = include_str!("../../../ptx/tests/data/accepted.txt");

fn parsed(statements: &str) -> Option<Module> {
    Module::parse(&format!("{DECLARATIONS}{statements}\nEND: ret; }}")).ok()
}

/// The statements, each in braces of its own for the sake of its labels, and with a guard where it can have one.
static LEGAL: LazyLock<Vec<String>> = LazyLock::new(|| {
    let lines = STATEMENTS.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.chain(["mov.u32 %r1, %tid.x;", "mov.u32 %r2, %laneid;"]);
    let forms = lines.flat_map(|line| [format!("{{ {line} }}"), format!("{{ @!%p4 {line} }}")]);
    forms.filter(|form| parsed(form).is_some()).collect()
});

/// Those of them that can be run.
static COVERED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let compiles = |form: &&String| {
        let module = parsed(form).expect("legal");
        Kernel::compile(&module, &module.entries()[0]).is_ok()
    };
    LEGAL.iter().filter(compiles).cloned().collect()
});

/// Comparisons, and branches: forwards, backwards, to the end.
const FLOW: [&str; 15] = [
    "{ @%p1 bra ON; add.u32 %r2, %r2, 3; ON: }",
    "{ @%p1 bra ELSE; add.u32 %r2, %r2, 3; mov.u32 %r4, %r2; bra ON; ELSE: mov.u32 %r4, %r2; ON: }",
    "add.u32 %r3, %r3, %r2; add.u32 %r2, %r4, 5;",
    "{ setp.lt.u32 %p1|%p4, %r1, 0x70000000; }",
    "{ setp.gt.s32 %p2, %r2, %r1; }",
    "cvt.u64.u32 %d1, %r2; mov.b64 %d2, {%r1, %r2};",
    "mov.u32 %r3, 5; mov.u64 %d1, 0;",
    "{ LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 9; @%p3 bra LOOP; }",
    "{ or.b32 %r5, %r2, 1; LOOP: add.u32 %r4, %r4, %r5; setp.lt.u32 %p5, %r4, 40; @%p1 bra OUT; @%p5 bra LOOP; OUT: }",
    "@%p1 bra END;",
    "@!%p2 bra END;",
    "{ @%p1 bra ON; mov.u32 %r1, %r3; ON: }",
    "{ @%p4 bra ELSE; mov.b128 %q1, {%d1, %d2}; bra ON; ELSE: sub.cc.u32 %r1, %r2, %r3; ON: }",
    "subc.cc.u32 %r3, %r1, %r2;",
    "@%p2 exit;",
];

fn bodies(statements: &'static [String]) -> impl Strategy<Value = String> {
    let statement = prop_oneof![3 => select(statements), 2 => select(FLOW.as_slice()).prop_map(str::to_owned)];
    prop::collection::vec(statement, 1..10).prop_map(|statements| statements.join("\n"))
}

/// Statements whose results are a function of what the registers of a thread hold.
static PURE: LazyLock<Vec<String>> = LazyLock::new(|| {
    let others = ["bar", "trap", "brkpt", "shfl", "vote", "match", "redux", "activemask", "elect", "call"];
    let machine =
        ["[", "%tid", "%ctaid", "%laneid", "%lanemask", "%warpid", "%clock", "%global", "%gridid", "%smid", "%v"];
    let is_pure = |form: &&String| others.iter().chain(&machine).all(|word| !form.contains(word));
    COVERED.iter().filter(is_pure).cloned().collect()
});

/// How registers whose names start so get a value that follows from `%n`, or for even numbers from what is the same in
/// all threads, and how that goes into `%further`: `@` is the
/// register and `#` its number.
const REGISTERS: [(&str, &str, &str); 16] = [
    ("%r", "mad.lo.u32 @, %n, 3#7, 10#;", "cvt.u64.u32 %further, @;"),
    ("%u", "mad.lo.u32 @, %n, 5#1, 20#;", "cvt.u64.u32 %further, @;"),
    ("%s", "mad.lo.u32 @, %n, -9#1, 30#;", "cvt.u64.u32 %further, @;"),
    ("%hx", "mad.lo.u32 %word, %n, 1234567#, 7#; mov.b32 @, %word;", "mov.b32 %word, @; cvt.u64.u32 %further, %word;"),
    ("%f", "mad.lo.u32 %word, %n, 98765#3, 40#; mov.b32 @, %word;", "mov.b32 %word, @; cvt.u64.u32 %further, %word;"),
    ("%h", "mad.lo.u32 %word, %n, 77#, 1#; cvt.u16.u32 @, %word;", "cvt.u64.u16 %further, @;"),
    (
        "%hf",
        "mad.lo.u32 %word, %n, 15#, 5#; cvt.u16.u32 %half, %word; mov.b16 @, %half;",
        "mov.b16 %half, @; cvt.u64.u16 %further, %half;",
    ),
    ("%sd", "mad.wide.u32 @, %n, 7#1, -7#;", "mov.b64 %further, @;"),
    ("%sh", "mad.lo.u32 %word, %n, 1#, 2#; cvt.u16.u32 @, %word;", "cvt.u64.u16 %further, @;"),
    ("%uh", "mad.lo.u32 %word, %n, 1#1, 3#; cvt.u16.u32 @, %word;", "cvt.u64.u16 %further, @;"),
    ("%c", "mad.lo.u32 %word, %n, 1#3, 4#; cvt.u8.u32 @, %word;", "cvt.u64.u8 %further, @;"),
    ("%d", "mad.wide.u32 @, %n, 4012345#1, -5#;", "mov.b64 %further, @;"),
    ("%ud", "mad.wide.u32 @, %n, 6#1, 6#;", "mov.b64 %further, @;"),
    ("%e", "mad.wide.u32 %last, %n, 2#, 7#; mov.b64 @, %last;", "mov.b64 %further, @;"),
    ("%p", "setp.lt.u32 @, %n, #;", "selp.u64 %further, 1, 0, @;"),
    (
        "%q",
        "mad.wide.u32 %last, %n, 8#, 8#; mov.b128 @, {%last, %last};",
        "mov.b128 {%further, %last}, @; mad.lo.u64 %further, %last, 31, %further;",
    ),
];

/// Code for each register that a body names: what comes before it, or behind.
fn for_each_register(
    body: &str,
    code: fn((&'static str, &'static str, &'static str)) -> (&'static str, String),
) -> String {
    let each = REGISTERS.into_iter().flat_map(|of| (1..9).map(move |number| (of, number)));
    let pieces = each.filter_map(|(of, number)| {
        let (start, code) = code(of);
        let register = format!("{start}{number}");
        let code = if number % 2 == 0 { code.replace("%n,", "%one,") } else { code };
        body.contains(&register).then(|| code.replace('@', &register).replace('#', &number.to_string()))
    });
    pieces.collect::<Vec<_>>().join("\n")
}

/// What each of so many threads computes, each by a number of its own: a digest of all registers.
fn digests(body: &str, number: &str, grid: u32, block: [u32; 3]) -> Vec<u8> {
    let beginning = for_each_register(body, |(start, begin, _)| (start, begin.to_owned()));
    let ending = for_each_register(body, |(start, _, end)| {
        (start, format!("{end} mad.lo.u64 %sum, %sum, 1099511628211, %further;"))
    });
    let text = format!(
        ".reg .b16 %half; .reg .b32 %n, %one, %word; .reg .b64 %sum, %further, %last, %out; mov.u32 %n, {number}; mov.u32 %one, %nctaid.z;
{beginning}\nadd.cc.u32 %word, %n, -9;\n{body}\nEND: addc.u64 %sum, 0, 0;
{ending}\nld.param.u64 %out, [p0]; mad.wide.u32 %out, %n, 8, %out; st.global.u64 [%out], %sum;"
    );
    let module = Module::parse(&format!("{DECLARATIONS}{text}\nret; }}")).expect("legal statements");
    let kernel = Kernel::compile(&module, &module.entries()[0]).expect("each of the statements compiles");
    let rig = Rig::new(1);
    let mut parameters = [0; 64];
    parameters[..8].copy_from_slice(&rig.base.to_le_bytes());
    rig.launch(&kernel, [grid, 1, 1], block, &parameters).expect("no statement stops a launch");
    rig.bytes(0, 8 * THREADS as usize)
}

const THREADS: u32 = 24;

fn compiled(body: &str) -> Result<Kernel, CompileError> {
    let module = parsed(body).expect("legal statements");
    Kernel::compile(&module, &module.entries()[0])
}

proptest! {
    #[test]
    fn a_legal_body_compiles_or_names_what_is_not_modelled(body in bodies(&LEGAL)) {
        let found = compiled(&body);
        prop_assert!(matches!(found, Ok(_) | Err(CompileError::NotModelled { .. })), "{:?}", found.err());
    }

    #[test]
    fn what_compiles_runs_to_an_end(body in bodies(&COVERED), threads in 1..70_u32, rows in 1..3_u32) {
        let kernel = compiled(&body).expect("each of the statements compiles");
        let rig = Rig::new(1);
        let launch = Launch { most: Duration::from_secs(2), ..Launch::new([2, 1, 1], [threads, rows, 1], &[0; 64]) };
        // Addresses are anything, and so are faults; but nothing here runs on for ever.
        let stop = kernel.launch(&launch, rig.view()).err();
        prop_assert!(stop.as_ref().is_none_or(|stop| !matches!(stop.cause, Cause::Deadline { .. })), "{stop:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn threads_in_step_compute_what_each_computes_alone(body in bodies(&PURE)) {
        // Alone, all values are kept once and nobody parts; in step, they differ, or grow from thread to thread.
        let alone = digests(&body, "%ctaid.x", THREADS, [1, 1, 1]);
        prop_assert_eq!(&digests(&body, "%tid.x", 1, [THREADS, 1, 1]), &alone);
        let rows = "%tid.y; mov.u32 %word, %tid.x; mad.lo.u32 %n, %n, 8, %word";
        prop_assert_eq!(&digests(&body, rows, 1, [8, THREADS / 8, 1]), &alone);
    }
}
