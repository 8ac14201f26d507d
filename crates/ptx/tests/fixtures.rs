//! What nvcc makes of the CUDA sources in `fixtures/ptx` is PTX that is understood in full; what is written by hand there is
//! PTX.

use std::fs;
use std::path::PathBuf;

use peermap_ptx::{Module, Operation};

/// The compiled programs, by the names of their files.
fn compiled() -> Vec<(String, String)> {
    texts("nvcc")
}

/// The programs of a folder, by the names of their files.
fn texts(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/ptx").join(folder);
    let files = fs::read_dir(folder).expect("the folder is there").map(|file| file.expect("an entry").path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), path))
        .map(|(name, path)| (name, fs::read_to_string(path).expect("text")))
        .collect()
}

#[test]
fn each_program_parses() {
    let folders = ["nvcc", "golden/pass", "golden/fault", "golden/not_modelled"];
    let texts: Vec<_> = folders.into_iter().flat_map(texts).collect();
    let wrong: Vec<_> =
        texts.iter().filter_map(|(name, text)| Some(format!("{name}: {}", Module::parse(text).err()?))).collect();
    assert!(texts.len() >= 120);
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn no_instruction_is_without_meaning() {
    let wrong: Vec<_> = compiled()
        .iter()
        .flat_map(|(name, text)| {
            let module = Module::parse(text).expect("parses");
            let functions = module.functions().iter().filter_map(|function| function.body.as_ref());
            let bodies: Vec<_> = functions.chain(module.entries().iter().map(|entry| &entry.body)).cloned().collect();
            bodies.into_iter().flat_map(|body| body.instructions).map(|it| (name.clone(), it)).collect::<Vec<_>>()
        })
        .filter(|(_, instruction)| matches!(instruction.operation, Operation::Unmodelled))
        .map(|(name, instruction)| format!("{name}, line {}", instruction.at.line))
        .collect();
    assert_eq!(wrong, [""; 0]);
}

/// The entry has the name of its file, and its lines are lines of the source.
#[test]
fn each_program_has_its_entry_and_names_its_source() {
    for (name, text) in compiled() {
        let source = name.split('.').next().expect("a name");
        let module = Module::parse(&text).expect("parses");
        assert!(module.entry(source).is_some(), "{name}");
        let named = (1..9).filter_map(|file| module.file(file)).any(|file| file == format!("{source}.cu"));
        assert!(named, "{name}");
    }
}
