//! Findings as text.

use comfy_table::{ContentArrangement, Table, presets};
use peermap_driver::ByteSize;

use super::Findings;
use super::device::{DeviceFacts, Tried};
use super::host::HostFacts;

/// A table of the devices, the matrix of peers, and what is in the way.
pub(super) fn text(findings: &Findings) -> String {
    let machine = match &findings.profile {
        Some(profile) => format!("simulated machine {profile}"),
        None => "this host's driver".to_owned(),
    };
    let version = findings.cuda_version;
    let mut text = format!("{machine}, CUDA {}.{}\n", version / 1000, version % 1000 / 10);
    for device in &findings.devices {
        text.push_str(&format!("\n{}\n", device_table(device)));
    }
    text.push_str(&format!("\nreaches (row) the memory of (column)\n{}\n", peer_table(&findings.peers)));
    text.push_str(&format!("\nIMEX channels: {}\n", list_or_none(&findings.imex.channels)));
    for remedy in &findings.imex.remedies {
        text.push_str(&format!("  an administrator can: {remedy}\n"));
    }
    text.push_str(&format!("\nthis host\n{}", host_table(&findings.host)));
    text
}

fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
}

fn tried(tried: &Tried) -> String {
    match &tried.refused {
        None => "yes, tried".to_owned(),
        Some(refused) => format!("no: {refused}"),
    }
}

const fn yes(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

fn known<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}

fn mhz(kilohertz: Option<i32>) -> String {
    known(kilohertz.map(|khz| format!("{} MHz", khz / 1000)))
}

fn bytes(count: Option<u64>) -> String {
    known(count.map(|count| match count {
        0..1_048_576 => format!("{count} B"),
        _ => format!("{} MiB", count / (1 << 20)),
    }))
}

fn list_or_none(list: &[String]) -> String {
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}

fn device_table(device: &DeviceFacts) -> String {
    let mut table = plain_table();
    let fabric = format!("{} (the attribute says {})", tried(&device.fabric), yes(device.fabric_attribute));
    for (name, value) in [
        (format!("device {}", device.ordinal), device.name.clone()),
        ("uuid".to_owned(), device.uuid.clone()),
        ("pci".to_owned(), device.pci_bus_id.clone()),
        ("compute capability".to_owned(), device.compute_capability.clone()),
        ("multiprocessors".to_owned(), known(device.multiprocessors)),
        ("clock".to_owned(), mhz(device.clock_khz)),
        ("memory".to_owned(), format!("{}, {} free", bytes(Some(device.total_bytes)), bytes(device.free_bytes))),
        (
            "memory clock, bus".to_owned(),
            format!("{}, {} bit", mhz(device.memory_clock_khz), known(device.memory_bus_bits)),
        ),
        ("L2 cache".to_owned(), bytes(device.l2_bytes.and_then(|size| u64::try_from(size).ok()))),
        ("compute mode".to_owned(), device.compute_mode.to_owned()),
        ("unified addressing".to_owned(), yes(device.unified_addressing).to_owned()),
        ("virtual memory management".to_owned(), yes(device.virtual_memory_management).to_owned()),
        (
            "granularity".to_owned(),
            format!(
                "{}, recommended {}",
                ByteSize::new(device.granularity_minimum),
                ByteSize::new(device.granularity_recommended)
            ),
        ),
        ("share by descriptor".to_owned(), tried(&device.posix_descriptor)),
        ("share by fabric handle".to_owned(), fabric),
        ("GPUDirect RDMA memory".to_owned(), tried(&device.gpu_direct_rdma)),
        ("compressible memory".to_owned(), tried(&device.compression)),
        ("multicast".to_owned(), format!("the attribute says {}, not tried", yes(device.multicast_attribute))),
    ] {
        table.add_row([name, value]);
    }
    table.to_string()
}

fn peer_table(peers: &[Vec<bool>]) -> String {
    let mut table = plain_table();
    table.add_row(std::iter::once(String::new()).chain((0..peers.len()).map(|column| column.to_string())));
    for (row, reached) in peers.iter().enumerate() {
        let cells = reached.iter().enumerate().map(|(column, reached)| match (row == column, reached) {
            (true, _) => "-",
            (false, true) => "yes",
            (false, false) => "no",
        });
        table.add_row(std::iter::once(row.to_string()).chain(cells.map(str::to_owned)));
    }
    table.to_string()
}

fn host_table(host: &HostFacts) -> String {
    let mut table = plain_table();
    let files = format!("{}, at most {}", known(host.open_files_soft), known(host.open_files_hard));
    let shared = format!("{}, {} free", bytes(host.shared_memory_bytes), bytes(host.shared_memory_free_bytes));
    for (name, value) in [
        ("cores", host.cores.to_string()),
        ("open files", files),
        ("/dev/shm", shared),
        ("ptrace scope", known(host.ptrace_scope)),
        ("available memory", bytes(host.available_memory_bytes)),
    ] {
        table.add_row([name.to_owned(), value]);
    }
    table.to_string()
}
