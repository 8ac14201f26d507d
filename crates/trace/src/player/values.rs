//! The values of a process by name.
//!
//! Addresses and handles differ from run to run, so the recordings call them by the names that the steps gave them.

use std::os::fd::{OwnedFd, RawFd};

use peermap_driver::{
    Context, DevicePtr, Event, FabricHandle, IpcEventHandle, IpcMemHandle, MemHandle, MemPool, MemPoolPtrExportData,
    Stream, Win32Handle,
};

use crate::reference::Reference;

/// A value that a step gave a name.
#[derive(Debug)]
pub(crate) enum Value {
    /// The start of a reservation or allocation.
    Address(DevicePtr),
    /// A memory handle.
    Memory(MemHandle),
    /// A memory pool.
    Pool(MemPool),
    /// A context.
    Context(Context),
    /// A stream.
    Stream(Stream),
    /// An event.
    Event(Event),
    /// A descriptor.
    Descriptor(OwnedFd),
    /// A descriptor that was closed, by the number that the driver gets for it.
    Closed(RawFd),
    /// A fabric handle.
    Fabric(FabricHandle),
    /// An NT handle. It means nothing in another process.
    Win32(Win32Handle),
    /// A legacy handle.
    Legacy(IpcMemHandle),
    /// A handle to an event.
    EventHandle(IpcEventHandle),
    /// What finds an allocation of a shared pool.
    PoolPointer(MemPoolPtrExportData),
}

struct Entry {
    name: String,
    value: Value,
    /// Not yet released, freed, destroyed or closed under this name.
    alive: bool,
}

/// The values of one process, in the order in which they were named.
#[derive(Default)]
pub(crate) struct Values {
    entries: Vec<Entry>,
}

impl Values {
    /// Names a value.
    pub(crate) fn define(&mut self, name: &str, value: Value) {
        self.entries.push(Entry { name: name.to_owned(), value, alive: true });
    }

    /// The value of a name, released or not.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().rev().find(|entry| entry.name == name).map(|entry| &entry.value)
    }

    /// The value of a name, to be changed.
    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.entries.iter_mut().rev().find(|entry| entry.name == name).map(|entry| &mut entry.value)
    }

    /// Lets a name die, because its value was released or destroyed under it.
    pub(crate) fn retire(&mut self, name: &str) {
        if let Some(entry) = self.entries.iter_mut().rev().find(|entry| entry.name == name) {
            entry.alive = false;
        }
    }

    /// Lets the name of a freed address die: the one that the call used if it is exactly that address, otherwise the
    /// latest live one that is.
    pub(crate) fn retire_address(&mut self, used: Option<&str>, address: DevicePtr) {
        let is_it = |entry: &Entry| matches!(entry.value, Value::Address(start) if start == address);
        let by_name = self.entries.iter().rposition(|entry| used == Some(&entry.name) && is_it(entry));
        let found = by_name.or_else(|| self.entries.iter().rposition(|entry| entry.alive && is_it(entry)));
        if let Some(index) = found {
            self.entries[index].alive = false;
        }
    }

    /// An address as the recordings write it: by the nearest live name at or below it, the latest of several. An
    /// address below all of them is written as a number, which no recording has.
    pub(crate) fn name_address(&self, address: DevicePtr) -> String {
        let live = self.entries.iter().filter(|entry| entry.alive);
        let below = live.filter_map(|entry| match entry.value {
            Value::Address(start) if start <= address && !start.is_null() => Some((start, entry.name.as_str())),
            _ => None,
        });
        // Of equal elements the last one is the greatest, which is the latest name.
        match below.max_by_key(|(start, _)| *start) {
            Some((start, name)) => {
                Reference { name, offset: i128::from(address.get()) - i128::from(start.get()) }.to_string()
            }
            None => format!("{:#x}", address.get()),
        }
    }

    /// The name of a value: the latest live one, or else the latest.
    pub(crate) fn name_of(&self, is_it: impl Fn(&Value) -> bool) -> Option<&str> {
        let mut named = self.entries.iter().rev().filter(|entry| is_it(&entry.value));
        let latest = named.clone().next();
        named.find(|entry| entry.alive).or(latest).map(|entry| entry.name.as_str())
    }

    /// The live names of a memory handle, sorted as text.
    pub(crate) fn same_memory(&self, handle: MemHandle) -> Vec<String> {
        self.same(|value| matches!(value, Value::Memory(other) if *other == handle))
    }

    /// The live names of a pool, sorted as text.
    pub(crate) fn same_pool(&self, pool: MemPool) -> Vec<String> {
        self.same(|value| matches!(value, Value::Pool(other) if *other == pool))
    }

    /// The live names of an address, sorted as text.
    pub(crate) fn same_address(&self, address: DevicePtr) -> Vec<String> {
        self.same(|value| matches!(value, Value::Address(other) if *other == address))
    }

    /// The live names of a context, sorted as text.
    pub(crate) fn same_context(&self, context: Context) -> Vec<String> {
        self.same(|value| matches!(value, Value::Context(other) if *other == context))
    }

    fn same(&self, is_it: impl Fn(&Value) -> bool) -> Vec<String> {
        let live = self.entries.iter().filter(|entry| entry.alive && is_it(&entry.value));
        let mut names: Vec<String> = live.map(|entry| entry.name.clone()).collect();
        names.sort();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(named: &[(&str, u64)]) -> Values {
        let mut values = Values::default();
        for (name, address) in named {
            values.define(name, Value::Address(DevicePtr::new(*address)));
        }
        values
    }

    fn memory(raw: u64) -> MemHandle {
        // SAFETY: the handle reaches no driver.
        unsafe { MemHandle::from_raw(raw) }
    }

    #[test]
    fn an_address_is_named_by_the_nearest_name_at_or_below_it() {
        let values = addresses(&[("far", 0x1000), ("near", 0x2000), ("above", 0x3000)]);
        assert_eq!(values.name_address(DevicePtr::new(0x2000)), "$near+0");
        assert_eq!(values.name_address(DevicePtr::new(0x2fff)), "$near+4095");
        assert_eq!(values.name_address(DevicePtr::new(0x1fff)), "$far+4095");
    }

    #[test]
    fn of_names_for_one_address_the_latest_counts() {
        let values = addresses(&[("old", 0x1000), ("new", 0x1000)]);
        assert_eq!(values.name_address(DevicePtr::new(0x1010)), "$new+16");
    }

    #[test]
    fn a_dead_name_names_no_address_but_keeps_its_value() {
        let mut values = addresses(&[("old", 0x1000), ("new", 0x1000)]);
        values.retire_address(Some("new"), DevicePtr::new(0x1000));
        assert_eq!(values.name_address(DevicePtr::new(0x1000)), "$old+0");
        assert!(matches!(values.get("new"), Some(Value::Address(start)) if start.get() == 0x1000));
    }

    #[test]
    fn an_address_below_all_names_is_a_number() {
        assert_eq!(addresses(&[("v0", 0x1000)]).name_address(DevicePtr::new(0xfff)), "0xfff");
    }

    #[test]
    fn a_free_by_offset_retires_the_name_of_the_freed_address() {
        let mut values = addresses(&[("first", 0x1000), ("second", 0x2000)]);
        values.retire_address(Some("first"), DevicePtr::new(0x2000));
        assert_eq!(values.name_address(DevicePtr::new(0x2000)), "$first+4096");
    }

    #[test]
    fn handles_of_one_value_are_listed_as_sorted_text_without_released_names() {
        let mut values = Values::default();
        for (name, raw) in [("r4096", 7), ("h0", 7), ("other", 8), ("r1", 7)] {
            values.define(name, Value::Memory(memory(raw)));
        }
        assert_eq!(values.same_memory(memory(7)), ["h0", "r1", "r4096"]);
        values.retire("h0");
        assert_eq!(values.same_memory(memory(7)), ["r1", "r4096"]);
        assert_eq!(values.same_memory(memory(9)), [""; 0]);
    }

    #[test]
    fn kinds_of_values_are_not_mixed_up() {
        let mut values = addresses(&[("v0", 7)]);
        values.define("h0", Value::Memory(memory(7)));
        // SAFETY: the context reaches no driver.
        let context = unsafe { Context::from_raw(7) };
        assert_eq!(values.same_context(context), [""; 0]);
        assert_eq!(values.name_address(DevicePtr::new(8)), "$v0+1");
    }
}
