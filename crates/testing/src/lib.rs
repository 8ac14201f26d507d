//! What tests with a main function of their own share: such a test starts its own executable again, in another role.

mod host;
mod processes;

pub use host::{UNSHARE, lack_of_namespaces, unless_lacking};
pub use libtest_mimic::{Arguments, Trial, run};
pub use processes::{arguments, children, children_that_are, is_alive, leftovers, wait_for};

/// Makes a [`Trial`] of each test function, named by its path.
///
/// # Examples
/// ```
/// mod barrier {
///     pub fn nobody_is_early() {}
/// }
///
/// let trials = peermap_testing::trials![barrier::nobody_is_early,];
/// assert_eq!(trials[0].name(), "barrier::nobody_is_early");
/// ```
#[macro_export]
macro_rules! trials {
    ($($module:ident::$test:ident),* $(,)?) => {
        ::std::vec![$($crate::Trial::test(concat!(stringify!($module), "::", stringify!($test)), || {
            $module::$test();
            Ok(())
        })),*]
    };
}
