//! Instructions of the language that have no meaning here.

/// Their opcodes. Some have a first modifier, because other forms of the same opcode have a meaning.
const OPCODES: [&str; 45] = [
    "alloca",
    "clusterlaunchcontrol",
    "cp",
    "istypep",
    "ldmatrix",
    "mbarrier",
    "mma",
    "movmatrix",
    "stackrestore",
    "stacksave",
    "stmatrix",
    "suld",
    "suq",
    "sured",
    "sust",
    "tcgen05",
    "tensormap",
    "tex",
    "tld4",
    "txq",
    "vabsdiff",
    "vabsdiff2",
    "vabsdiff4",
    "vadd",
    "vadd2",
    "vadd4",
    "vavrg2",
    "vavrg4",
    "vmad",
    "vmax",
    "vmax2",
    "vmax4",
    "vmin",
    "vmin2",
    "vmin4",
    "vset",
    "vset2",
    "vset4",
    "vshl",
    "vshr",
    "vsub",
    "vsub2",
    "vsub4",
    "wgmma",
    "wmma",
];

/// Forms of opcodes that otherwise have a meaning, by a modifier.
const FORMS: [(&str, &str); 7] = [
    ("cvt", ".rs"),
    ("st", ".async"),
    ("st", ".bulk"),
    ("red", ".async"),
    ("multimem", ".cp"),
    ("prefetch", ".tensormap"),
    ("multimem", ".async"),
];

/// Whether an instruction of this opcode with these modifiers has no meaning here.
pub(crate) fn is_unmodelled<'a>(opcode: &str, modifiers: impl Iterator<Item = &'a str> + Clone) -> bool {
    let small = [".e4m3", ".e5m2", ".e2m1", ".e2m3", ".e3m2", ".ue8m0", ".s2f6"];
    let form = |(name, modifier): &(&str, &str)| *name == opcode && modifiers.clone().any(|it| it == *modifier);
    let is_small = |modifier: &str| small.iter().any(|format| modifier.starts_with(format));
    OPCODES.contains(&opcode)
        || FORMS.iter().any(form)
        || matches!(opcode, "cvt" | "multimem") && modifiers.clone().any(is_small)
}
