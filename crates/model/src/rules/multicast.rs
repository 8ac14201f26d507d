//! Multicast objects: teams of devices. No recording has these calls, since they can put the GPUs of a host out of service: all
//! rules are the manual's, and the codes those that its page lists for the call.

use super::rules;

rules! { MULTICAST;
    MULTICAST_1 = "MULTICAST-1" [cuMulticastCreate, cuMulticastAddDevice, cuMulticastGetGranularity] NOT_SUPPORTED:
        "the device must support multicast; without one named, one that the process sees" manual "cuMulticastCreate";
    MULTICAST_2 = "MULTICAST-2" [cuMulticastCreate, cuMulticastGetGranularity] INVALID_VALUE:
        "the flags must be 0, and the team must have devices" manual "CUmulticastObjectProp";
    MULTICAST_3 = "MULTICAST-3" [cuMulticastCreate] INVALID_VALUE:
        "the size must be a multiple of the team's granularity and not 0" manual "cuMulticastCreate";
    MULTICAST_4 = "MULTICAST-4" [cuMulticastCreate] INVALID_VALUE: "handles of Windows are no handles of this platform"
        manual "CUmulticastObjectProp";
    MULTICAST_5 = "MULTICAST-5" [cuMulticastCreate] NOT_PERMITTED: "a fabric handle needs an IMEX channel"
        manual "cuMulticastCreate";
    MULTICAST_6 = "MULTICAST-6" [cuMulticastCreate] OUT_OF_MEMORY: "the switches must have room for a team of that size"
        manual "cuMulticastCreate";
    MULTICAST_7 = "MULTICAST-7" [cuMulticastAddDevice, cuMulticastBindMem, cuMulticastBindAddr, cuMulticastUnbind]
        INVALID_VALUE: "the handle must be one of a multicast object" manual "cuMulticastAddDevice";
    MULTICAST_8 = "MULTICAST-8" [cuMulticastAddDevice, cuMulticastUnbind] INVALID_DEVICE:
        "the device must be one that this process sees, and to unbind memory of it one of the team"
        manual "cuMulticastAddDevice";
    MULTICAST_9 = "MULTICAST-9" [cuMulticastAddDevice] INVALID_VALUE:
        "a team has as many devices as it was made for, and each of them once" manual "cuMulticastAddDevice";
    MULTICAST_10 = "MULTICAST-10" [cuMulticastAddDevice] INVALID_DEVICE:
        "the devices of a team must be connected to each other" manual "cuMulticastAddDevice";
    WAIT_1 = "WAIT-1" [cuMulticastBindMem, cuMulticastBindAddr, cuMemMap] SUCCESS:
        "the call does not return before all devices of the team have been added" manual "cuMulticastAddDevice";
    MULTICAST_12 = "MULTICAST-12" [cuMulticastBindMem, cuMulticastBindAddr] INVALID_VALUE:
        "what is bound must be memory from cuMemCreate" manual "cuMulticastBindMem";
    MULTICAST_13 = "MULTICAST-13" [cuMulticastBindMem, cuMulticastBindAddr] INVALID_VALUE: "the flags must be 0"
        manual "cuMulticastBindMem";
    MULTICAST_14 = "MULTICAST-14" [cuMulticastBindMem, cuMulticastBindAddr, cuMulticastUnbind] INVALID_VALUE:
        "size, offsets and address must be multiples of the team's granularity, and the size not 0"
        manual "cuMulticastBindMem";
    MULTICAST_15 = "MULTICAST-15" [cuMulticastBindMem, cuMulticastBindAddr, cuMulticastUnbind] INVALID_VALUE:
        "offset and size must not go beyond the team, nor beyond the memory" manual "cuMulticastBindMem";
    MULTICAST_16 = "MULTICAST-16" [cuMulticastBindMem, cuMulticastBindAddr] INVALID_VALUE:
        "the memory must lie on a device of the team" manual "cuMulticastBindMem";
    MULTICAST_17 = "MULTICAST-17" [cuMulticastBindMem, cuMulticastBindAddr] INVALID_VALUE:
        "a team that can be shared binds only memory that can be shared" manual "cuMulticastBindMem";
    MULTICAST_18 = "MULTICAST-18" [cuMulticastGetGranularity] INVALID_VALUE: "the option must be a known one"
        manual "cuMulticastGetGranularity";
    MULTICAST_19 = "MULTICAST-19" [cuMulticastCreate] NOT_SUPPORTED: "the device must support fabric handles"
        manual "cuMulticastCreate";
    MAP_10 = "MAP-10" [cuMemMap] INVALID_VALUE:
        "address and size of a multicast object must be multiples of its granularity" manual "cuMemMap";
}
