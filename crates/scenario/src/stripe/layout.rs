//! Which stripe lies on which device.

use peermap_driver::ByteSize;

/// The stripes of a vector. Devices are numbered as the workers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) stripe: ByteSize,
    pub(super) stripes: u32,
    pub(super) devices: u32,
}

impl Layout {
    /// The size of a vector.
    pub(super) const fn size(&self) -> ByteSize {
        // A vector was asked for in 64 bits, and its stripes are no more.
        ByteSize::new(self.stripe.get() * self.stripes as u64)
    }

    /// How many words of 64 bits a vector has.
    pub(super) const fn words(&self) -> u64 {
        self.size().get() / 8
    }

    /// How many devices there are before the last one joins.
    pub(super) const fn founders(&self) -> u32 {
        if self.devices > 1 { self.devices - 1 } else { 1 }
    }

    /// How many stripes there are before.
    pub(super) const fn founded(&self) -> u32 {
        self.stripes / 2
    }

    /// How many words there are before.
    pub(super) const fn founded_words(&self) -> u64 {
        self.stripe.get() / 8 * self.founded() as u64
    }

    /// The device of a stripe: what there is before the last one joins lies on the others in turn, what comes then on all, beginning
    /// with that one.
    pub(super) const fn device_of(&self, stripe: u32) -> u32 {
        match stripe.checked_sub(self.founded()) {
            None => stripe % self.founders(),
            Some(later) => (later + self.devices - 1) % self.devices,
        }
    }

    /// How many stripes of a vector lie on a device.
    pub(super) fn on(&self, device: u32) -> u32 {
        (0..self.stripes).filter(|stripe| self.device_of(*stripe) == device).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(stripes: u32, devices: u32) -> Vec<u32> {
        let layout = Layout { stripe: ByteSize::mib(2), stripes, devices };
        (0..stripes).map(|stripe| layout.device_of(stripe)).collect()
    }

    #[test]
    fn stripes_lie_in_turn_and_the_last_device_has_none_of_the_first_half() {
        assert_eq!(devices(12, 3), [0, 1, 0, 1, 0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(devices(5, 2), [0, 0, 1, 0, 1]);
        assert_eq!(devices(4, 1), [0, 0, 0, 0]);
    }

    #[test]
    fn every_stripe_is_counted_once() {
        let layout = Layout { stripe: ByteSize::mib(2), stripes: 33, devices: 5 };
        assert_eq!((0..5).map(|device| layout.on(device)).sum::<u32>(), 33);
    }
}
