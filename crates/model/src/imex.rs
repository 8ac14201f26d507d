//! Nodes of a machine, and what IMEX lets their processes share as fabric handles.

use serde::{Deserialize, Serialize};

/// A node: an operating system with devices of its own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The IMEX domain that it belongs to.
    #[serde(default)]
    pub domain: u16,
    /// The IMEX channels that its processes can use.
    #[serde(default)]
    pub channels: Vec<u32>,
    /// Whether its IMEX daemon runs.
    #[serde(default = "runs")]
    pub daemon: bool,
}

const fn runs() -> bool {
    true
}

/// What becomes of a request for a fabric handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fabric {
    /// It is given.
    Granted,
    /// The attribute says yes, `cuMemCreate` says `NOT_PERMITTED`: no IMEX channel.
    NotPermitted,
    /// The attribute says no and `cuMemCreate` says `NOT_SUPPORTED`.
    NotSupported,
}

/// What keeps a process from memory that was exported as a fabric handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Apart {
    /// It has no IMEX channel of the exporter's.
    Channel,
    /// The nodes belong to different IMEX domains.
    Domain,
    /// The IMEX daemon of one of the nodes does not run.
    Daemon,
}

impl Node {
    /// What keeps a process of this node from memory of another one, or of this one.
    pub(crate) fn apart_from(&self, other: &Self) -> Option<Apart> {
        // Within a node the driver needs nobody's help.
        let helped = std::ptr::eq(self, other) || (self.daemon && other.daemon);
        let in_common = self.channels.iter().any(|channel| other.channels.contains(channel));
        // Without a channel the driver does not even look.
        if self.channels.is_empty() {
            Some(Apart::Channel)
        } else if self.domain != other.domain {
            Some(Apart::Domain)
        } else if !helped {
            Some(Apart::Daemon)
        } else {
            (!in_common).then_some(Apart::Channel)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(domain: u16, channels: &[u32], daemon: bool) -> Node {
        Node { domain, channels: channels.to_vec(), daemon }
    }

    #[test]
    fn nodes_share_if_domain_channel_and_daemons_let_them() {
        let one = node(0, &[0, 3], true);
        let apart = |importer: Node| importer.apart_from(&one);
        assert_eq!(apart(node(0, &[3], true)), None);
        assert_eq!(apart(node(0, &[1], true)), Some(Apart::Channel));
        assert_eq!(apart(node(1, &[0], true)), Some(Apart::Domain));
        assert_eq!(apart(node(0, &[0], false)), Some(Apart::Daemon));
        assert_eq!(apart(node(1, &[], false)), Some(Apart::Channel));
    }

    #[test]
    fn within_a_node_no_daemon_is_needed() {
        let alone = node(0, &[0], false);
        assert_eq!(alone.apart_from(&alone), None);
        assert_eq!(node(0, &[0], true).apart_from(&alone), Some(Apart::Daemon));
    }
}
