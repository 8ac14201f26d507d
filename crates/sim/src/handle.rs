//! The model's numbers as the handles of the trait.

use peermap_driver::{Context, Event, Function, MemHandle, MemPool, Module, Stream};

macro_rules! handles {
    ($($name:ident -> $kind:ident;)*) => {$(
        pub(crate) const fn $name(raw: u64) -> $kind {
            // SAFETY: the number comes from the model, which hands it out as such a handle.
            unsafe { $kind::from_raw(raw) }
        }
    )*};
}

handles! {
    context -> Context;
    stream -> Stream;
    event -> Event;
    module -> Module;
    function -> Function;
    mem_handle -> MemHandle;
    mem_pool -> MemPool;
}
