//! What `cuModuleLoadData` was given.

/// The sort of an image, as far as its first bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageKind {
    /// Text that can be PTX: UTF-8 up to the first NUL, starting with a directive or a comment. Only
    /// [`Module::parse`](crate::Module::parse) says whether it is.
    Ptx,
    /// An ELF file: code for one architecture.
    Cubin,
    /// A container of several images.
    Fatbin,
    /// Nothing of these.
    Unknown,
}

impl ImageKind {
    /// The sort of `bytes`. They may be longer than the image: text ends at a NUL.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        const ELF: [u8; 4] = *b"\x7fELF";
        const FATBIN: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();
        match bytes.first_chunk() {
            Some(&ELF) => Self::Cubin,
            Some(&FATBIN) => Self::Fatbin,
            _ if is_text(bytes) => Self::Ptx,
            _ => Self::Unknown,
        }
    }
}

fn is_text(bytes: &[u8]) -> bool {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let start = text.trim_ascii_start();
    let starts_right = start.starts_with(b".") || start.starts_with(b"//") || start.starts_with(b"/*");
    starts_right && std::str::from_utf8(text).is_ok()
}
