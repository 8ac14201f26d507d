//! Writes results that nobody measured into a folder, and says how long their page takes and how large it is:
//! `cargo run --release --package peermap-report --example made_up_page -- FOLDER RESULTS SAMPLES`.

#[path = "../tests/page/made_up.rs"]
mod made_up;

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use peermap_report::page::page;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, count, samples] = &*arguments else { return Err("it takes FOLDER RESULTS SAMPLES".into()) };
    let results = made_up::results(count.parse()?, samples.parse()?);
    for result in &results {
        std::fs::write(Path::new(folder).join(&result.name), serde_json::to_string(&result.report)?)?;
    }
    let begun = Instant::now();
    let page = page(&[], &results);
    let milliseconds = begun.elapsed().as_millis();
    println!("{count} results with {samples} samples: {milliseconds} ms, {} KiB", page.len() / 1024);
    Ok(())
}
