//! Images told apart by their first bytes.

use peermap_ptx::ImageKind;

#[test]
fn compiled_images_are_known_by_their_magic_number() {
    assert_eq!(ImageKind::of(b"\x7fELF\x02\x01\x01"), ImageKind::Cubin);
    assert_eq!(ImageKind::of(&[0x50, 0xED, 0x55, 0xBA, 1, 0]), ImageKind::Fatbin);
    assert_eq!(ImageKind::of(b"\x7fEL"), ImageKind::Unknown);
    assert_eq!(ImageKind::of(&[0xBA, 0x55, 0xED, 0x50]), ImageKind::Unknown);
}

#[test]
fn text_is_ptx_with_a_nul_behind_it_or_without() {
    assert_eq!(ImageKind::of(include_bytes!("../../../kernels/memmap_ipc.ptx")), ImageKind::Ptx);
    assert_eq!(ImageKind::of(b"\n\t.version 8.4\0\xff\xfe"), ImageKind::Ptx);
    assert_eq!(ImageKind::of(b"/* c */ .version 8.4"), ImageKind::Ptx);
    assert_eq!(ImageKind::of(b".target sm_90, but no version"), ImageKind::Ptx);
}

#[test]
fn everything_else_is_unknown() {
    for bytes in [b"".as_slice(), b"\0.version 8.4", b"hello", b".version \xff", b"/ .version", b"   "] {
        assert_eq!(ImageKind::of(bytes), ImageKind::Unknown, "{bytes:?}");
    }
}
