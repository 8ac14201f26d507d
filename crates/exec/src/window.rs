//! Addresses of memory that blocks and threads have for themselves.

use std::fmt;

/// Memory that is reached through a window of generic addresses.
///
/// The windows lie where no device memory is, on any host: a device's addresses are addresses of its host, and none has
/// bit 56. With four or five levels of page tables an x86-64 program has 47 or 56 bits, an aarch64 one 48 or 52. The low
/// half of a window's first address is zero, so that the low 32 bits of a generic address are the address in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// `.shared`: that of the block.
    Shared,
    /// `.local`: that of the thread, at the same addresses in each.
    Local,
    /// `.param` of an entry.
    Parameter,
}

impl Window {
    /// How many addresses each window has.
    const BYTES: u64 = 1 << 32;

    /// The first generic address.
    #[must_use]
    pub const fn base(self) -> u64 {
        let number = match self {
            Self::Shared => 0,
            Self::Local => 1,
            Self::Parameter => 2,
        };
        (1 << 56) + number * Self::BYTES
    }

    /// Whether a generic address lies in the window.
    #[must_use]
    pub const fn contains(self, address: u64) -> bool {
        address.wrapping_sub(self.base()) < Self::BYTES
    }

    /// The window that a generic address lies in, if it lies in one, and where.
    pub(crate) fn of(address: u64) -> Option<(Self, u64)> {
        let window = [Self::Shared, Self::Local, Self::Parameter].into_iter().find(|it| it.contains(address))?;
        Some((window, address - window.base()))
    }

    /// The address of the first byte that there is.
    #[must_use]
    pub const fn start(self) -> u64 {
        match self {
            // Below is what the system has for itself, from compute capability 8.0 on.
            Self::Shared => 1024,
            Self::Local | Self::Parameter => 0,
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Shared => "shared memory of the block",
            Self::Local => "local memory of the thread",
            Self::Parameter => "parameters of the launch",
        })
    }
}

/// What an address of a function is made of: no memory has it, and none is zero.
pub(crate) const FUNCTIONS: u64 = (1 << 56) + (1 << 40);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_apart_and_their_ends_are_exact() {
        for window in [Window::Shared, Window::Local, Window::Parameter] {
            assert_eq!(Window::of(window.base()), Some((window, 0)));
            assert_eq!(Window::of(window.base() + 0xFFFF_FFFF), Some((window, 0xFFFF_FFFF)));
        }
        assert_eq!(Window::of(Window::Shared.base() - 1), None);
        assert_eq!(Window::of(Window::Parameter.base() + (1 << 32)), None);
    }
}
