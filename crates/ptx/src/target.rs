//! Which version of the language brought which architecture.

/// The first version that has each architecture, and its number. Those with a letter came later where they have an
/// entry of their own.
///
/// # Source
/// ptxas 13.0.88, asked for each pair; the manual's table of `.target` says the same from `sm_50` on.
const FIRST: [(&str, (u8, u8)); 44] = [
    ("sm_10", (1, 0)),
    ("sm_11", (1, 0)),
    ("sm_12", (1, 4)),
    ("sm_13", (1, 4)),
    ("sm_20", (2, 0)),
    ("sm_21", (2, 0)),
    ("sm_30", (3, 0)),
    ("sm_32", (4, 0)),
    ("sm_35", (3, 1)),
    ("sm_37", (4, 1)),
    ("sm_50", (4, 0)),
    ("sm_52", (4, 1)),
    ("sm_53", (4, 2)),
    ("sm_60", (5, 0)),
    ("sm_61", (5, 0)),
    ("sm_62", (5, 0)),
    ("sm_70", (6, 0)),
    ("sm_72", (6, 1)),
    ("sm_75", (6, 3)),
    ("sm_80", (7, 0)),
    ("sm_86", (7, 1)),
    ("sm_87", (7, 4)),
    ("sm_88", (7, 3)),
    ("sm_89", (7, 8)),
    ("sm_90", (7, 8)),
    ("sm_90a", (8, 0)),
    ("sm_100", (8, 6)),
    ("sm_100a", (8, 6)),
    ("sm_100f", (8, 8)),
    ("sm_101", (8, 6)),
    ("sm_101a", (8, 6)),
    ("sm_101f", (8, 8)),
    ("sm_103", (8, 8)),
    ("sm_103a", (8, 8)),
    ("sm_103f", (8, 8)),
    ("sm_110", (9, 0)),
    ("sm_110a", (9, 0)),
    ("sm_110f", (9, 0)),
    ("sm_120", (8, 7)),
    ("sm_120a", (8, 7)),
    ("sm_120f", (8, 8)),
    ("sm_121", (8, 8)),
    ("sm_121a", (8, 8)),
    ("sm_121f", (8, 8)),
];

/// The first version that has an architecture; `None` if there is no such architecture.
pub(crate) fn first_version(target: &str) -> Option<(u8, u8)> {
    FIRST.iter().find(|(name, _)| *name == target).map(|(_, version)| *version)
}
