//! The rules, one table for each group of calls.
//!
//! A rule stands here once. The code that enforces it names the rule, so that a refusal says which one was broken, and
//! `evidence` names the recorded step that shows it. `tests/evidence.rs` looks every step up in the recordings.

mod context;
mod copy;
mod fabric;
mod mapping;
mod module;
mod multicast;
mod physical;
mod pool;
mod query;
mod win32;

pub use context::*;
pub use copy::*;
pub use fabric::*;
pub use mapping::*;
pub use module::*;
pub use multicast::*;
pub use physical::*;
pub use pool::*;
pub use query::*;
pub use win32::*;

use crate::rule::Rule;

/// Declares rules and the list of them.
macro_rules! rules {
    ($list:ident; $(
        $name:ident = $id:literal [$($call:ident),*] $result:ident: $sentence:literal
        $(step $file:literal $trace:literal $step:literal)* $(hardware $test:literal)* $(report $report:literal)* $(manual $page:literal)*;
    )*) => {
        $(
            #[doc = concat!($id, ": ", $sentence, ".")]
            pub static $name: $crate::rule::Rule = $crate::rule::Rule::new(
                peermap_driver::RuleId($id),
                &[$(peermap_driver::Call::$call),*],
                peermap_driver::CuResult::$result,
                $sentence,
                &[
                    $($crate::rule::Evidence::Step($file, $trace, $step),)*
                    $($crate::rule::Evidence::Hardware($test),)*
                    $($crate::rule::Evidence::Report($report),)*
                    $($crate::rule::Evidence::Manual($page),)*
                ],
            );
        )*

        pub(super) static $list: &[&$crate::rule::Rule] = &[$(&$name),*];
    };
}
use rules;

/// Every rule.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [CONTEXT, COPY, FABRIC, MAPPING, MODULE, MULTICAST, PHYSICAL, POOL, QUERY, WIN32].into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_rule_has_a_name_of_its_own_and_evidence() {
        let mut names = BTreeSet::new();
        for rule in all() {
            assert!(names.insert(rule.id), "{} stands twice", rule.id);
            assert!(!rule.evidence.is_empty(), "{} has no evidence", rule.id);
            assert!(!rule.calls.is_empty(), "{} is about no call", rule.id);
        }
    }
}
