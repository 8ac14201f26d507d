//! Available memory of the host and of the control group.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::LimitError;

const MEMINFO: &str = "/proc/meminfo";
const CGROUPS: &str = "/proc/self/cgroup";
const MOUNT: &str = "/sys/fs/cgroup";

/// Where the numbers of a control group stand: version 2, then version 1.
const V2: Files = Files { limit: "memory.max", usage: "memory.current", prefix: "" };
const V1: Files = Files { limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", prefix: "total_" };

struct Files {
    limit: &'static str,
    usage: &'static str,
    /// What stands before the names in `memory.stat` that count descendants in.
    prefix: &'static str,
}

/// How much memory this process can still take: what the host has available, or what the limits of its control group and
/// the groups above leave, whichever is less. File cache counts as available, because the kernel gives it up.
///
/// # Units
/// Bytes.
///
/// # Errors
/// [`LimitError::Read`] and [`LimitError::Content`] about `/proc/meminfo`. Control groups that cannot be read do not count.
pub fn available_memory() -> Result<u64, LimitError> {
    let text = fs::read_to_string(MEMINFO).map_err(|source| LimitError::Read { path: MEMINFO.into(), source })?;
    let host = host_available(&text)
        .ok_or_else(|| LimitError::Content { path: MEMINFO.into(), what: "the available memory (MemAvailable)" })?;
    let groups = fs::read_to_string(CGROUPS).unwrap_or_default();
    Ok(group_available(&groups, Path::new(MOUNT)).map_or(host, |group| group.min(host)))
}

/// `MemAvailable`, which meminfo has in KiB.
fn host_available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The least that any control group on the way to the root leaves.
fn group_available(groups: &str, mount: &Path) -> Option<u64> {
    groups
        .lines()
        .filter_map(|line| group_of_line(line, mount))
        .flat_map(|(root, path, files)| {
            let groups: Vec<PathBuf> = path.ancestors().map(|group| root.join(group)).collect();
            groups.into_iter().filter_map(move |group| left_in(&group, files))
        })
        .min()
}

/// Reads a line `number:controllers:/path`: the root of the hierarchy, the path below it, and its file names.
///
/// Inside a container the path may not exist under the mount, because it is the host's; then only the root, which is the
/// container's own group, can be read.
fn group_of_line<'a>(line: &'a str, mount: &Path) -> Option<(PathBuf, &'a Path, &'static Files)> {
    let mut fields = line.splitn(3, ':').skip(1);
    let controllers = fields.next()?;
    let path = Path::new(fields.next()?.trim_start_matches('/'));
    if controllers.is_empty() {
        // Where both versions are mounted, version 2 lies in a folder of its own.
        let hybrid = mount.join("unified");
        return Some((if hybrid.is_dir() { hybrid } else { mount.to_owned() }, path, &V2));
    }
    controllers.split(',').any(|name| name == "memory").then(|| (mount.join("memory"), path, &V1))
}

/// What the limit of one group leaves, if it has one.
fn left_in(group: &Path, files: &Files) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
    // Version 2 writes `max` for no limit; version 1 writes a number beyond every memory, which does no harm here.
    let limit = number(files.limit)?;
    let usage = number(files.usage)?;
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    Some(limit.saturating_sub(usage.saturating_sub(file_cache(&stat, files.prefix))))
}

/// File cache of a group, which the kernel drops before it runs out.
fn file_cache(stat: &str, prefix: &str) -> u64 {
    let value = |name: &str| {
        let values = stat.lines().filter_map(|line| line.strip_prefix(prefix)?.strip_prefix(name)?.strip_prefix(' '));
        values.filter_map(|value| value.trim().parse::<u64>().ok()).next().unwrap_or(0)
    };
    value("inactive_file").saturating_add(value("active_file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).expect("a folder can be made");
        for (name, content) in files {
            fs::write(folder.join(name), content).expect("a file can be written");
        }
    }

    #[test]
    fn the_available_memory_of_the_host_is_in_kib() {
        let meminfo = "MemTotal:       200 kB\nMemFree:  5 kB\nMemAvailable:   100 kB\n";
        assert_eq!(host_available(meminfo), Some(102_400));
        assert_eq!(host_available("MemTotal: 200 kB\n"), None);
    }

    #[test]
    fn the_tightest_group_on_the_way_to_the_root_counts() {
        let mount = tempfile::tempdir().expect("a folder can be made");
        write(&mount.path().join("job/step"), &[("memory.max", "max\n"), ("memory.current", "10\n")]);
        write(&mount.path().join("job"), &[("memory.max", "1000\n"), ("memory.current", "400\n")]);
        assert_eq!(group_available("0::/job/step\n", mount.path()), Some(600));
    }

    #[test]
    fn file_cache_counts_as_available() {
        let mount = tempfile::tempdir().expect("a folder can be made");
        let stat = "anon 300\ninactive_file 50\nactive_file 20\n";
        write(mount.path(), &[("memory.max", "1000"), ("memory.current", "400"), ("memory.stat", stat)]);
        assert_eq!(group_available("0::/\n", mount.path()), Some(670));
    }

    #[test]
    fn version_1_is_read_where_the_memory_controller_is_mounted() {
        let mount = tempfile::tempdir().expect("a folder can be made");
        let stat = "inactive_file 1\ntotal_inactive_file 30\ntotal_active_file 0\n";
        let files = [("memory.limit_in_bytes", "500"), ("memory.usage_in_bytes", "200"), ("memory.stat", stat)];
        write(&mount.path().join("memory/box"), &files);
        assert_eq!(group_available("4:cpu,memory:/box\n0::/\n", mount.path()), Some(330));
    }

    #[test]
    fn a_container_whose_path_is_the_hosts_reads_the_root() {
        let mount = tempfile::tempdir().expect("a folder can be made");
        let files = [("memory.limit_in_bytes", "500"), ("memory.usage_in_bytes", "200")];
        write(&mount.path().join("memory"), &files);
        assert_eq!(group_available("4:memory:/docker/0123\n", mount.path()), Some(300));
    }

    #[test]
    fn no_group_means_no_limit() {
        let mount = tempfile::tempdir().expect("a folder can be made");
        assert_eq!(group_available("0::/\n", mount.path()), None);
        assert_eq!(group_available("", mount.path()), None);
    }

    #[test]
    fn this_host_has_memory() {
        assert!(available_memory().is_ok_and(|bytes| bytes > 0));
    }
}
