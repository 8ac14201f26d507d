//! The codes that calls can give.

use peermap_driver::{Call, CuResult};
use peermap_model::rules;

/// The codes with which a call can be refused: those of its rules, and what every call can give on a device that is gone.
#[must_use]
pub fn codes(call: Call) -> Vec<CuResult> {
    let of_rules = rules::all().filter(|rule| rule.calls.contains(&call) && !rule.crashes() && !rule.hangs());
    let mut codes: Vec<CuResult> = of_rules.map(|rule| rule.result).filter(|result| !result.is_success()).collect();
    if takes_memory(call) || takes_addresses(call) {
        codes.push(CuResult::OUT_OF_MEMORY);
    }
    codes.push(CuResult::UNKNOWN);
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Whether a call takes memory of a device.
pub(crate) fn takes_memory(call: Call) -> bool {
    matches!(call, Call::cuMemCreate | Call::cuMemAlloc | Call::cuMemAllocFromPoolAsync | Call::cuCtxCreate)
}

/// Whether a call takes addresses.
pub(crate) fn takes_addresses(call: Call) -> bool {
    matches!(call, Call::cuMemAddressReserve | Call::cuMemAlloc | Call::cuIpcOpenMemHandle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_can_give_what_its_rules_say() {
        let codes = codes(Call::cuMemMap);
        assert!(codes.contains(&CuResult::INVALID_VALUE), "{codes:?}");
        assert!(codes.contains(&CuResult::UNKNOWN) && !codes.contains(&CuResult::SUCCESS));
    }

    #[test]
    fn no_call_is_without_codes() {
        assert_eq!(Call::ALL.iter().find(|call| codes(**call).is_empty()), None);
    }
}
