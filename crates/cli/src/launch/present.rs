//! What is printed of a launch.

use peermap_driver::{Dim3, DriverError};
use peermap_scenario::one_kernel::{LaunchError, Runs};
use serde_json::{Map, Value, json};

use super::args::Launch;
use super::collect::{Finished, Held};
use super::place::Place;
use crate::show;

impl Finished {
    /// What the buffers held: a line for each, or one JSON object.
    pub(super) fn shown(&self, place: &Place, arguments: &Launch) -> String {
        if !arguments.json {
            let lines = self.0.iter().map(|(argument, (bytes, held))| line(*argument, *bytes, held));
            return lines.collect();
        }
        let buffers = self.0.iter().map(|(argument, (bytes, held))| buffer(*argument, *bytes, held));
        let object = json!({
            "ok": true,
            "backend": place.backend,
            "profile": place.profile,
            "entry": arguments.entry,
            "grid": numbers(arguments.grid()),
            "block": numbers(arguments.block()),
            "shared_bytes": arguments.shared.get(),
            "buffers": buffers.collect::<Vec<_>>(),
        });
        format!("{object}\n")
    }
}

const fn numbers(shape: Dim3) -> [u32; 3] {
    [shape.x, shape.y, shape.z]
}

fn line(argument: usize, bytes: u64, held: &Held) -> String {
    let held = match held {
        Held::Short(runs) => in_short(runs),
        Held::File(path) => format!("written to {}", path.display()),
    };
    format!("argument {argument}, {bytes} bytes: {held}\n")
}

fn in_short(runs: &Runs) -> String {
    let kept = runs.kept().iter().map(|(byte, count)| format!("[{byte}, {count}]"));
    let kept = kept.collect::<Vec<_>>().join(" ");
    if runs.left_out() == 0 { kept } else { format!("{kept} and {} more runs", runs.left_out()) }
}

fn buffer(argument: usize, bytes: u64, held: &Held) -> Value {
    match held {
        Held::Short(runs) => {
            json!({ "argument": argument, "bytes": bytes, "runs": runs.kept(), "runs_left_out": runs.left_out() })
        }
        Held::File(path) => json!({ "argument": argument, "bytes": bytes, "file": path.display().to_string() }),
    }
}

/// What is printed where a launch gave no result: the name of what the driver answered, or one JSON object. What else is
/// known goes to standard error.
pub(super) fn failure(error: &LaunchError, json: bool) -> String {
    let log = if let LaunchError::Load { log, .. } = error { log.as_str() } else { "" };
    log.lines().for_each(show::note);
    show::complaint(&error.to_string());
    let result = error.result().map(|result| result.name());
    if !json {
        return result.map(|result| format!("{result}\n")).unwrap_or_default();
    }
    let object = json!({
        "ok": false,
        "error": error.to_string(),
        "exit_code": error.exit_code().code(),
        "result": result,
        "explanation": error.source_error().and_then(explanation),
        "log": log.lines().collect::<Vec<_>>(),
    });
    format!("{object}\n")
}

/// Which rule the driver followed, and the values that decided.
fn explanation(error: &DriverError) -> Option<Value> {
    let explanation = error.explanation()?;
    let facts = explanation.facts.iter().map(|(name, value)| ((*name).to_owned(), json!(value.to_string())));
    let facts: Map<String, Value> = facts.collect();
    Some(json!({ "rule": explanation.rule.to_string(), "sentence": explanation.sentence, "facts": facts }))
}
