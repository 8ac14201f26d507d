//! How long the phases of a worker took.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Times by name, in the order in which they were measured. In JSON it is an object.
///
/// # Units
/// Milliseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Phases(Vec<(String, f64)>);

impl Phases {
    /// Adds time to a phase.
    pub fn add(&mut self, name: &str, milliseconds: f64) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, time)) => *time += milliseconds,
            None => self.0.push((name.to_owned(), milliseconds)),
        }
    }

    /// The time of a phase.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, time)| *time)
    }

    /// The phases in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, time)| (name.as_str(), *time))
    }
}

impl fmt::Display for Phases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, time)) in self.iter().enumerate() {
            write!(f, "{}{name} {time:.1}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Phases {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Times;

        impl<'de> Visitor<'de> for Times {
            type Value = Phases;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("times by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Phases, A::Error> {
                let mut times = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    times.push(entry);
                }
                Ok(Phases(times))
            }
        }

        deserializer.deserialize_map(Times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_an_object_in_the_order_of_measurement() {
        let mut phases = Phases::default();
        phases.add("init", 1.5);
        phases.add("fill", 2.0);
        phases.add("fill", 0.5);
        let json = serde_json::to_string(&phases).unwrap();
        assert_eq!(json, r#"{"init":1.5,"fill":2.5}"#);
        assert_eq!(serde_json::from_str::<Phases>(&json).unwrap(), phases);
        assert_eq!(phases.to_string(), "init 1.5, fill 2.5");
    }
}
