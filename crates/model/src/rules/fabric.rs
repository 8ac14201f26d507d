//! Fabric handles between processes, on one node or on several.
//!
//! The manual says when the channel is wanting. For nodes that do not reach each other it names no code; users of such
//! clusters report the one that stands here.

use super::rules;

rules! { FABRIC;
    FABRIC_1 = "FABRIC-1" [cuMemImportFromShareableHandle, cuMemPoolImportFromShareableHandle] NOT_PERMITTED:
        "importer and exporter need an IMEX channel in common" manual "cuMemImportFromShareableHandle";
    FABRIC_2 = "FABRIC-2" [cuMemImportFromShareableHandle, cuMemPoolImportFromShareableHandle] INVALID_HANDLE:
        "the nodes of importer and exporter must belong to one IMEX domain" manual "IMEX guide, Deployment Models";
    FABRIC_3 = "FABRIC-3" [cuMemImportFromShareableHandle, cuMemPoolImportFromShareableHandle] INVALID_HANDLE:
        "between nodes the IMEX daemons of both must run" manual "IMEX guide, Connections, Quorum, and Clean up";
}
