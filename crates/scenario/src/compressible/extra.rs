//! Properties of memory that it may have or not.

use peermap_driver::{AllocationProp, CompressionType, DeviceAttribute, Driver, Result};

use crate::devices::Chosen;

/// A property that memory may have besides.
pub(super) struct Extra {
    /// What a device has that can give it.
    attribute: DeviceAttribute,
    /// What memory with the property is.
    name: &'static str,
    ask: fn(&mut AllocationProp),
    is_given: fn(&AllocationProp) -> bool,
}

pub(super) const EXTRAS: [Extra; 2] = [
    Extra {
        attribute: DeviceAttribute::GENERIC_COMPRESSION_SUPPORTED,
        name: "compressible",
        ask: |prop| prop.compression = CompressionType::GENERIC,
        is_given: |prop| prop.compression == CompressionType::GENERIC,
    },
    Extra {
        attribute: DeviceAttribute::GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
        name: "within reach of GPUDirect RDMA",
        ask: |prop| prop.gpu_direct_rdma = true,
        is_given: |prop| prop.gpu_direct_rdma,
    },
];

impl Extra {
    /// Whether a device can give it at all. Where it cannot, asking may be refused.
    pub(super) fn is_promised(&self, driver: &dyn Driver, device: &Chosen) -> Result<bool> {
        Ok(driver.device_get_attribute(self.attribute, device.device)? != 0)
    }

    /// The same properties with this one asked for.
    pub(super) fn asked_for(&self, mut prop: AllocationProp) -> AllocationProp {
        (self.ask)(&mut prop);
        prop
    }

    /// How many buffers have it, as a sentence. `promised`: it was asked for.
    pub(super) fn remark(&self, device: &Chosen, promised: bool, given: &[AllocationProp]) -> String {
        let Self { name, is_given, .. } = self;
        let (count, all) = (given.iter().filter(|prop| is_given(prop)).count(), given.len());
        match (promised, all - count) {
            (false, _) => format!("{} has no memory that is {name}; the buffers do without", device.device),
            (true, 0) => format!("{count} of {all} buffers are {name}"),
            (true, _) => format!("{count} of {all} buffers are {name}, as all were asked to be; the others do without"),
        }
    }
}

#[cfg(test)]
mod tests {
    use peermap_driver::{Device, HandleType, Uuid};

    use super::*;

    #[test]
    fn the_property_decides_and_not_the_request() {
        let device = Chosen { device: Device(3), uuid: Uuid([0; 16]), name: "a device".to_owned() };
        let plain = AllocationProp::pinned_on(3, HandleType::POSIX_FILE_DESCRIPTOR);
        let [compression, rdma] = &EXTRAS;
        let both = rdma.asked_for(compression.asked_for(plain));
        assert_eq!((both.compression, both.gpu_direct_rdma), (CompressionType::GENERIC, true));
        assert_eq!(compression.remark(&device, true, &[both, both]), "2 of 2 buffers are compressible");
        assert_eq!(
            rdma.remark(&device, true, &[both, plain, plain]),
            "1 of 3 buffers are within reach of GPUDirect RDMA, as all were asked to be; the others do without"
        );
        assert_eq!(
            compression.remark(&device, false, &[plain]),
            "device 3 has no memory that is compressible; the buffers do without"
        );
    }
}
