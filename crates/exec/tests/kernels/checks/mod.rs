//! Checks: each finds what it is for, and keeps silent where all is right.

mod aliases;
mod bounds;
mod races;
mod uninitialised;

use std::ops::Range;

use peermap_exec::{Cause, Check, Checks, Finding, Launch, Stop};

use crate::rig::{GRANULE, Rig, kernel};

/// A kernel with registers of which `%t` is the thread in its block, `%b` the block and `%g` the thread in the grid. `%a` and
/// `%c` are the parameters, `%at` and `%ct` the places that the thread has there, four bytes each.
fn text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 a, .param .u64 c) {{
.shared .align 4 .b8 s[4096];
.reg .u32 %t, %b, %g, %n, %x, %y, %z, %s; .reg .u64 %a, %c, %at, %ct, %w, %v; .reg .pred %p, %q;
ld.param.u64 %a, [a]; ld.param.u64 %c, [c]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;
mad.lo.u32 %g, %b, %n, %t; mul.wide.u32 %w, %g, 4; add.u64 %at, %a, %w; add.u64 %ct, %c, %w;
mov.u32 %s, s; mad.lo.u32 %s, %t, 4, %s; mov.u32 %x, 0;
{body}
ret; }}"
    )
}

/// The line of the body's first line.
const BODY: u32 = 10;

/// A launch of so many blocks of so many threads with two arguments, looking for one thing.
struct Run<'r> {
    rig: &'r Rig,
    check: Check,
    shape: (u32, u32),
    arguments: [u64; 2],
}

impl Run<'_> {
    fn launch(&self, body: &str) -> Result<(), Box<Stop>> {
        let parameters: Vec<u8> = self.arguments.iter().flat_map(|argument| argument.to_le_bytes()).collect();
        let (blocks, threads) = self.shape;
        // Every second granule begins a buffer of two.
        let buffer = |address: u64| -> Option<Range<u64>> {
            let inside = address.checked_sub(self.rig.base).filter(|inside| *inside < 8 * GRANULE)?;
            let start = self.rig.base + inside / (2 * GRANULE) * (2 * GRANULE);
            Some(start..start + 2 * GRANULE)
        };
        let launch = Launch {
            checks: Checks::NONE.with(self.check),
            buffer: &buffer,
            ..Launch::new([blocks, 1, 1], [threads, 1, 1], &parameters)
        };
        kernel(&text(body), "k").launch(&launch, self.rig.view())
    }

    /// What is found, and where.
    fn finds(&self, body: &str) -> (Stop, Finding) {
        let stop = *self.launch(body).unwrap_err();
        let Cause::Finding(finding) = stop.cause.clone() else { panic!("{stop}") };
        assert_eq!(finding.check(), self.check);
        (stop, *finding)
    }
}
