//! The machine that a result comes from.

use serde::{Deserialize, Serialize};

/// The machine that a result comes from. Results are compared only between machines that are the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Machine {
    /// The model of its processor.
    pub cpu: String,
    /// Cores that the run could use.
    pub cores: usize,
    /// The version of the operating system's kernel.
    pub kernel: Option<String>,
    /// The version of the driver, such as 580.159.04.
    pub driver: Option<String>,
    /// The version of CUDA that the driver supports, such as 13000.
    pub cuda: Option<i32>,
    /// Its devices, those that took part.
    pub devices: Vec<DeviceFacts>,
    /// How the devices are connected, one line for each pair, such as `0-1: NV18`.
    pub topology: Vec<String>,
}

/// A device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DeviceFacts {
    /// Its ordinal.
    pub ordinal: i32,
    /// Its name. A simulated one says that it is.
    pub name: String,
    /// Its identity.
    pub uuid: String,
    /// Its memory, in bytes.
    pub memory: u64,
}

/// Something that could have disturbed the run, as it was before and after it: a clock, a temperature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Guard {
    /// What: `device 0: SM clock, MHz`.
    pub what: String,
    /// Its value before the run.
    pub before: String,
    /// Its value after it.
    pub after: String,
}

/// What else the machine did while the run began.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Load {
    /// The load average over a minute.
    pub load_average: Option<f64>,
    /// Other processes that use the devices.
    pub other_gpu_processes: Option<u32>,
}

impl Machine {
    /// In what two machines differ, so that their results say nothing about each other. Empty if they are the same.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let devices = |machine: &Self| {
            let names: Vec<&str> = machine.devices.iter().map(|device| device.name.as_str()).collect();
            names.join(", ")
        };
        let facts = [
            ("processor", self.cpu.clone(), other.cpu.clone()),
            ("cores", self.cores.to_string(), other.cores.to_string()),
            ("driver", self.driver.clone().unwrap_or_default(), other.driver.clone().unwrap_or_default()),
            ("devices", devices(self), devices(other)),
        ];
        let differ = facts.into_iter().filter(|(_, one, two)| one != two);
        differ.map(|(what, one, two)| format!("{what}: {one:?} and {two:?}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_differ_in_what_makes_results_incomparable() {
        let one = Machine { cpu: "A".to_owned(), cores: 2, ..Machine::default() };
        let two = Machine { cores: 4, kernel: Some("6.1".to_owned()), ..one.clone() };
        assert_eq!(one.differences(&one), [""; 0]);
        assert_eq!(one.differences(&two), [r#"cores: "2" and "4""#]);
    }
}
