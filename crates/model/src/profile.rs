//! A machine as data: devices, links, what is granted.
//!
//! A profile is either measured, the file that a reading of real devices gave, or made from a measured one by stating
//! what is different. A made one says that it is invented.

use std::collections::BTreeMap;

use peermap_driver::{ByteSize, DeviceAttribute, Uuid};
use serde::{Deserialize, Serialize};

use crate::imex::{Apart, Fabric, Node};
use crate::wire::Place;

const MEASURED: &[(&str, &str)] = &[("h200-x2", include_str!("../../../fixtures/machines/h200-x2.json"))];

const INVENTED: &[(&str, &str)] = &[
    ("default", include_str!("../../../fixtures/machines/default.json")),
    ("h200-x8", include_str!("../../../fixtures/machines/h200-x8.json")),
    ("h200-x32", include_str!("../../../fixtures/machines/h200-x32.json")),
    ("nvl72", include_str!("../../../fixtures/machines/nvl72.json")),
    ("no-peer", include_str!("../../../fixtures/machines/no-peer.json")),
    ("peers-8", include_str!("../../../fixtures/machines/peers-8.json")),
    ("no-fabric", include_str!("../../../fixtures/machines/no-fabric.json")),
    ("fabric-late", include_str!("../../../fixtures/machines/fabric-late.json")),
    ("fabric-lies", include_str!("../../../fixtures/machines/fabric-lies.json")),
    ("no-pools", include_str!("../../../fixtures/machines/no-pools.json")),
    ("no-host-numa", include_str!("../../../fixtures/machines/no-host-numa.json")),
    ("islands", include_str!("../../../fixtures/machines/islands.json")),
    ("no-multicast", include_str!("../../../fixtures/machines/no-multicast.json")),
    ("wide-teams", include_str!("../../../fixtures/machines/wide-teams.json")),
    ("windows", include_str!("../../../fixtures/machines/windows.json")),
    ("scarce", include_str!("../../../fixtures/machines/scarce.json")),
    ("unequal", include_str!("../../../fixtures/machines/unequal.json")),
    ("g64k", include_str!("../../../fixtures/machines/g64k.json")),
];

/// The unit of sizes and offsets of multicast objects: the least that works, and the one that performs best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MulticastGranularity {
    /// A multiple of the unit of allocations.
    pub minimum: ByteSize,
    /// A multiple of the minimum.
    pub recommended: ByteSize,
}

impl MulticastGranularity {
    /// What a machine has on which nobody measured it: the unit of allocations, and 512 MiB or that unit if it is larger.
    fn unmeasured(granularity: ByteSize) -> Self {
        Self { minimum: granularity, recommended: ByteSize::mib(512).max(granularity) }
    }
}

/// The operating system of a machine's nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Platform {
    /// Memory is shared as descriptors, and as fabric handles.
    #[default]
    Linux,
    /// Memory is shared as NT handles.
    Windows,
}

/// What the driver takes of a device's memory for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverMemory {
    /// Always.
    pub device: ByteSize,
    /// For each context.
    pub context: ByteSize,
    /// For every four streams of a context.
    pub streams: ByteSize,
}

/// A device of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceProfile {
    /// Its name, which says that it is simulated.
    pub name: String,
    /// Its identity, which says so too: the bytes spell `peermap-sim`.
    pub uuid: Uuid,
    /// Where it sits.
    pub pci_bus_id: String,
    /// Its attributes by number.
    pub attributes: BTreeMap<u32, i32>,
    /// Its memory.
    pub total: ByteSize,
    /// The node that it belongs to.
    pub node: u16,
    /// How long its work takes, in percent of what it takes the host that simulates it; 100 or more.
    pub time_percent: u32,
}

impl DeviceProfile {
    /// An attribute, if the device has it.
    #[must_use]
    pub fn attribute(&self, attribute: DeviceAttribute) -> Option<i32> {
        self.attributes.get(&attribute.code()).copied()
    }
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Where it was measured, or that it is invented.
    pub origin: String,
    /// The version of CUDA that its driver supports, such as 13000.
    pub cuda_version: i32,
    /// The version of its driver.
    pub driver_version: String,
    /// The newest version of PTX that its driver reads.
    pub ptx_version: (u8, u8),
    /// Its devices.
    pub devices: Vec<DeviceProfile>,
    /// The unit of allocations and addresses.
    pub granularity: ByteSize,
    /// The unit of sizes and offsets of multicast objects.
    pub multicast_granularity: MulticastGranularity,
    /// Whether devices of one node reach each other.
    pub peers_connected: bool,
    /// How many peers a context can enable.
    pub max_peers: usize,
    /// What its nodes run.
    pub platform: Platform,
    /// Its nodes; at least one.
    pub nodes: Vec<Node>,
    /// Whether fabric handles that creation grants can be exported.
    pub exports_fabric: bool,
    /// NUMA nodes of the host.
    pub host_numa_nodes: u16,
    /// How much memory of each device can be compressible; `None`: all of it.
    pub compressible: Option<ByteSize>,
    /// What the driver takes of each device's memory for itself.
    pub driver_memory: DriverMemory,
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// No profile has that name.
    #[error("there is no profile {name:?}; the profiles are {}", known.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// The file is no profile.
    #[error("profile {name:?} cannot be read: {source}")]
    Malformed {
        /// Which profile.
        name: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file names an attribute that does not exist.
    #[error("profile {name:?} names the unknown attribute {attribute}")]
    Attribute {
        /// Which profile.
        name: String,
        /// Which attribute.
        attribute: String,
    },
    /// The file has no device.
    #[error("profile {name:?} has no device")]
    NoDevice {
        /// Which profile.
        name: String,
    },
}

#[derive(Deserialize)]
struct MeasuredFile {
    devices: Vec<MeasuredDevice>,
    p2p: BTreeMap<String, BTreeMap<String, i32>>,
    driver: String,
    cuda: i32,
    imex_channels: u32,
    driver_memory_bytes: DriverMemory,
}

#[derive(Deserialize)]
struct MeasuredDevice {
    name: String,
    attributes: BTreeMap<String, i32>,
    total_bytes: u64,
    granularity_bytes: BTreeMap<String, BTreeMap<String, u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InventedFile {
    invented: String,
    base: String,
    devices: usize,
    #[serde(default = "one_node")]
    nodes: usize,
    #[serde(default)]
    attributes: BTreeMap<String, i32>,
    granularity_bytes: Option<u64>,
    peers_connected: Option<bool>,
    max_peers: Option<usize>,
    #[serde(default)]
    platform: Platform,
    /// What each node has of IMEX; the nodes that follow have what the last one has.
    #[serde(default)]
    imex: Vec<Node>,
    exports_fabric: Option<bool>,
    compressible_bytes: Option<u64>,
    driver_memory_bytes: Option<DriverMemory>,
    multicast_granularity: Option<MulticastGranularity>,
    /// Devices that differ from the others, by their number.
    #[serde(default)]
    unlike: BTreeMap<usize, UnlikeDevice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnlikeDevice {
    #[serde(default)]
    attributes: BTreeMap<String, i32>,
    #[serde(default = "as_long")]
    time_percent: u32,
}

/// As long as work takes the host that simulates it.
const fn as_long() -> u32 {
    100
}

const fn one_node() -> usize {
    1
}

impl Profile {
    /// The profile that is used when none is named: eight devices, everything granted.
    pub const DEFAULT: &'static str = "default";

    /// The names of all profiles.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        INVENTED.iter().chain(MEASURED).map(|(name, _)| *name).collect()
    }

    /// A profile by its name.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] with the names that there are.
    pub fn named(name: &str) -> Result<Self, ProfileError> {
        let find = |list: &[(&'static str, &'static str)]| list.iter().find(|(known, _)| *known == name).copied();
        if let Some((name, text)) = find(MEASURED) {
            return Self::from_measured(name, text);
        }
        match find(INVENTED) {
            Some((name, text)) => Self::from_invented(name, text),
            None => Err(ProfileError::Unknown { name: name.to_owned(), known: Self::names() }),
        }
    }

    fn from_measured(name: &str, text: &str) -> Result<Self, ProfileError> {
        let malformed = |source| ProfileError::Malformed { name: name.to_owned(), source };
        let file: MeasuredFile = serde_json::from_str(text).map_err(malformed)?;
        let first = file.devices.first().ok_or_else(|| ProfileError::NoDevice { name: name.to_owned() })?;
        let granularity =
            first.granularity_bytes.values().filter_map(|by_option| by_option.get("minimum")).max().copied();
        let connected = file.p2p.values().all(|link| link.get("ACCESS_SUPPORTED") == Some(&1));
        let devices = file
            .devices
            .iter()
            .enumerate()
            .map(|(index, device)| {
                Ok(DeviceProfile {
                    name: format!("{} (simulated)", device.name),
                    uuid: simulated_uuid(index),
                    pci_bus_id: pci_bus_id(&device.attributes, index),
                    attributes: attributes_by_number(name, &device.attributes)?,
                    total: ByteSize::new(device.total_bytes),
                    node: 0,
                    time_percent: as_long(),
                })
            })
            .collect::<Result<Vec<_>, ProfileError>>()?;
        Ok(Self {
            name: name.to_owned(),
            origin: format!("measured on {} {} with driver {}", file.devices.len(), first.name, file.driver),
            cuda_version: file.cuda,
            driver_version: file.driver,
            ptx_version: (9, 0),
            granularity: ByteSize::new(granularity.unwrap_or(2 << 20)),
            multicast_granularity: MulticastGranularity::unmeasured(ByteSize::new(granularity.unwrap_or(2 << 20))),
            peers_connected: connected,
            max_peers: devices.len(),
            platform: Platform::Linux,
            nodes: vec![Node { domain: 0, channels: (0..file.imex_channels).collect(), daemon: true }],
            exports_fabric: true,
            host_numa_nodes: 1,
            compressible: None,
            driver_memory: file.driver_memory_bytes,
            devices,
        })
    }

    fn from_invented(name: &str, text: &str) -> Result<Self, ProfileError> {
        let malformed = |source| ProfileError::Malformed { name: name.to_owned(), source };
        let file: InventedFile = serde_json::from_str(text).map_err(malformed)?;
        let mut profile = Self::named(&file.base)?;
        let model = profile.devices.first().cloned().ok_or_else(|| ProfileError::NoDevice { name: name.to_owned() })?;
        let overrides = attributes_by_number(name, &file.attributes)?;
        let devices_per_node = (file.devices / file.nodes.max(1)).max(1);
        profile.devices = (0..file.devices)
            .map(|index| {
                let mut device = model.clone();
                device.uuid = simulated_uuid(index);
                device.pci_bus_id = format!("0000:{:02x}:00.0", index + 1);
                device.attributes.extend(&overrides);
                device.attributes.insert(DeviceAttribute::PCI_BUS_ID.code(), i32::try_from(index + 1).unwrap_or(0));
                device.attributes.insert(DeviceAttribute::PCI_DEVICE_ID.code(), 0);
                device.node = u16::try_from(index / devices_per_node).unwrap_or(u16::MAX);
                device
            })
            .collect();
        for (index, unlike) in &file.unlike {
            let overrides = attributes_by_number(name, &unlike.attributes)?;
            if let Some(device) = profile.devices.get_mut(*index) {
                device.attributes.extend(&overrides);
                device.time_percent = unlike.time_percent;
            }
        }
        name.clone_into(&mut profile.name);
        profile.origin = format!("invented: {}", file.invented);
        profile.granularity = file.granularity_bytes.map_or(profile.granularity, ByteSize::new);
        profile.multicast_granularity =
            file.multicast_granularity.unwrap_or_else(|| MulticastGranularity::unmeasured(profile.granularity));
        profile.platform = file.platform;
        profile.peers_connected = file.peers_connected.unwrap_or(profile.peers_connected);
        profile.max_peers = file.max_peers.unwrap_or(file.devices);
        let imex = if file.imex.is_empty() { &profile.nodes } else { &file.imex };
        profile.nodes =
            imex.iter().chain(imex.iter().last().into_iter().cycle()).take(file.nodes.max(1)).cloned().collect();
        profile.exports_fabric = file.exports_fabric.unwrap_or(profile.exports_fabric);
        profile.driver_memory = file.driver_memory_bytes.unwrap_or(profile.driver_memory);
        profile.compressible = file.compressible_bytes.map(ByteSize::new).or(profile.compressible);
        Ok(profile)
    }

    /// Whether a device says that it has something.
    #[must_use]
    pub fn gives(&self, device: u16, attribute: DeviceAttribute) -> bool {
        let device = self.devices.get(usize::from(device));
        device.and_then(|device| device.attribute(attribute)).is_some_and(|value| value != 0)
    }

    /// What becomes of a request for a fabric handle to memory of a node.
    pub(crate) fn fabric(&self, node: u16) -> Fabric {
        let supported = self.gives(0, DeviceAttribute::HANDLE_TYPE_FABRIC_SUPPORTED);
        match self.nodes.get(usize::from(node)).is_some_and(|node| !node.channels.is_empty()) {
            _ if !supported => Fabric::NotSupported,
            true => Fabric::Granted,
            false => Fabric::NotPermitted,
        }
    }

    /// What keeps a process of a node from memory of another one, exported as a fabric handle.
    pub(crate) fn apart(&self, importer: u16, exporter: u16) -> Option<Apart> {
        match (self.nodes.get(usize::from(importer)), self.nodes.get(usize::from(exporter))) {
            (Some(importer), Some(exporter)) => importer.apart_from(exporter),
            _ => Some(Apart::Domain),
        }
    }

    /// The node that memory lies on; that of its maker if it lies on no device.
    pub(crate) fn node_of(&self, place: Place, maker: u16) -> u16 {
        match place {
            Place::Device(device) => self.devices.get(usize::from(device)).map_or(maker, |device| device.node),
            Place::HostNuma(_) | Place::Team { .. } => maker,
        }
    }

    /// The devices of a node.
    pub(crate) fn devices_of(&self, node: u16) -> impl Iterator<Item = u16> {
        (0..).zip(&self.devices).filter(move |(_, device)| device.node == node).map(|(index, _)| index)
    }

    /// How much memory of a device can be compressible.
    #[must_use]
    pub fn compressible_bytes(&self, device: u16) -> ByteSize {
        if !self.gives(device, DeviceAttribute::GENERIC_COMPRESSION_SUPPORTED) {
            return ByteSize::ZERO;
        }
        let total = self.devices.get(usize::from(device)).map_or(ByteSize::ZERO, |device| device.total);
        self.compressible.unwrap_or(total)
    }

    /// Whether a device reaches memory of another.
    #[must_use]
    pub fn connected(&self, device: u16, peer: u16) -> bool {
        let node = |index: u16| self.devices.get(usize::from(index)).map(|device| device.node);
        device != peer && self.peers_connected && node(device).is_some() && node(device) == node(peer)
    }
}

fn simulated_uuid(index: usize) -> Uuid {
    let mut bytes = *b"peermap-sim\0\0\0\0\0";
    bytes[12..].copy_from_slice(&u32::try_from(index).unwrap_or(u32::MAX).to_be_bytes());
    Uuid(bytes)
}

fn pci_bus_id(attributes: &BTreeMap<String, i32>, index: usize) -> String {
    let part = |name: &str| attributes.get(name).copied().unwrap_or(0);
    let device = attributes.get("PCI_DEVICE_ID").copied().unwrap_or_else(|| i32::try_from(index).unwrap_or(0));
    format!("{:04x}:{:02x}:{device:02x}.0", part("PCI_DOMAIN_ID"), part("PCI_BUS_ID"))
}

fn attributes_by_number(profile: &str, named: &BTreeMap<String, i32>) -> Result<BTreeMap<u32, i32>, ProfileError> {
    named
        .iter()
        .map(|(name, value)| match DeviceAttribute::from_name(name) {
            Some(attribute) => Ok((attribute.code(), *value)),
            None => Err(ProfileError::Attribute { name: profile.to_owned(), attribute: name.clone() }),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_reads_and_says_that_it_is_simulated() {
        for name in Profile::names() {
            let profile = Profile::named(name).unwrap();
            assert!(profile.origin.starts_with("invented: ") || profile.origin.starts_with("measured on "), "{name}");
            for device in &profile.devices {
                assert!(device.name.ends_with("(simulated)"), "{name}");
                assert!(device.uuid.0.starts_with(b"peermap-sim"), "{name}");
            }
        }
    }

    #[test]
    fn an_unknown_profile_lists_the_known_ones() {
        let error = Profile::named("h100").unwrap_err().to_string();
        assert!(error.contains("h200-x2") && error.contains("default"), "{error}");
    }

    #[test]
    fn the_measured_profile_is_what_was_read_from_the_machine() {
        let profile = Profile::named("h200-x2").unwrap();
        assert_eq!(profile.devices.len(), 2);
        assert_eq!(profile.devices[1].attribute(DeviceAttribute::MULTIPROCESSOR_COUNT), Some(132));
        assert_eq!(profile.devices[1].pci_bus_id, "0000:00:07.0");
        assert_eq!(profile.granularity, ByteSize::mib(2));
        assert_eq!(profile.fabric(0), Fabric::NotPermitted);
        assert!(profile.connected(0, 1));
        assert!(!profile.connected(0, 0));
    }

    #[test]
    fn devices_of_different_nodes_are_no_peers() {
        let profile = Profile::named("nvl72").unwrap();
        assert_eq!(profile.devices.len(), 72);
        assert!(profile.connected(0, 3));
        assert!(!profile.connected(3, 4));
    }

    #[test]
    fn each_node_has_devices_and_imex_of_its_own() {
        let profile = Profile::named("islands").unwrap();
        assert_eq!(profile.devices_of(2).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(profile.apart(1, 0), None);
        assert_eq!(profile.apart(2, 0), Some(Apart::Channel));
        assert_eq!(profile.fabric(3), Fabric::NotPermitted);
        assert_eq!(profile.apart(4, 0), Some(Apart::Domain));
        assert_eq!(profile.apart(5, 0), Some(Apart::Daemon));
        let nodes = Profile::named("nvl72").unwrap().nodes;
        assert_eq!(nodes.len(), 18);
        assert!(nodes.iter().all(|node| *node == nodes[0]));
    }
}
