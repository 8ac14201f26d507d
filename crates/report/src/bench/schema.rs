//! The JSON schema of result files, for programs in other languages. Only tests use it: it is written from the types.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::result::{BENCH_SCHEMA, BenchReport};

/// The way from this crate to the root of the project.
fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn read(name: &str) -> Value {
    let text = fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

const SCHEMA: &str = "reports/schema/bench.schema.json";
const OLD: &str = "fixtures/results/schema-1.json";

fn schema() -> Value {
    serde_json::to_value(schemars::schema_for!(BenchReport)).unwrap()
}

/// The same with its keys in order, whatever order this build keeps them in.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let sorted: BTreeMap<String, Value> = object.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(sorted.into_iter().collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// Where it is not, `UPDATE_EXPECT=1 cargo test -p peermap-report` writes the file anew.
#[test]
fn the_schema_in_the_project_is_that_of_the_types() {
    expect_test::expect_file![path(SCHEMA)].assert_eq(&format!("{:#}\n", sorted(schema())));
}

#[test]
fn every_result_in_the_project_is_what_the_schema_says() {
    let validator = jsonschema::validator_for(&read(SCHEMA)).unwrap();
    let folders = ["reports/h200-x1/bench", "reports/h200-x2/bench", "reports/baseline/h200-x1"];
    let entries = folders.into_iter().flat_map(|folder| fs::read_dir(path(folder)).unwrap());
    let measured = entries.map(|entry| entry.unwrap().path());
    let measured = measured.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let all: Vec<PathBuf> = measured.chain([path(OLD)]).collect();
    assert!(all.len() >= 8, "{all:?}");
    for file in all {
        let value: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(wrong, [""; 0], "{}", file.display());
    }
}

#[test]
fn the_schema_refuses_what_a_reader_refuses() {
    let validator = jsonschema::validator_for(&read(SCHEMA)).unwrap();
    let is_valid = |pointer: &str, value: Value| {
        let mut changed = read(OLD);
        *changed.pointer_mut(pointer).unwrap() = value;
        assert_eq!(validator.is_valid(&changed), BenchReport::read(&changed.to_string()).is_ok(), "{changed:#}");
        validator.is_valid(&changed)
    };
    assert!(is_valid("/benchmarks/0/samples", json!([])));
    assert!(!is_valid("/schema", json!(BENCH_SCHEMA + 1)));
    assert!(!is_valid("/kind", json!("comparison")));
    assert!(!is_valid("/benchmarks/0/unit", json!("furlong")));
    assert!(!is_valid("/benchmarks/0/samples/0", json!("14700")));
    assert!(!is_valid("/machine", json!(null)));
}

/// What the first files of this version do not have.
const ADDED_SINCE: [&str; 1] = ["peak"];

/// The keys of an object, and those that the schema has for it.
fn keys<'v>(value: &'v Value, known: &'v Value) -> [BTreeSet<&'v String>; 2] {
    [value, &known["properties"]].map(|object| object.as_object().unwrap().keys().collect())
}

#[test]
fn the_old_result_file_has_the_keys_that_the_schema_says() {
    let (schema, old) = (read(SCHEMA), read(OLD));
    for (value, known) in [
        (&old, &schema),
        (&old["machine"], &schema["$defs"]["Machine"]),
        (&old["machine"]["devices"][0], &schema["$defs"]["DeviceFacts"]),
        (&old["guards"][0], &schema["$defs"]["Guard"]),
        (&old["load"], &schema["$defs"]["Load"]),
        (&old["provenance"], &schema["$defs"]["Provenance"]),
        (&old["benchmarks"][0], &schema["$defs"]["Benchmark"]),
        (&old["benchmarks"][1]["floor"], &schema["$defs"]["Floor"]),
        (&old["skipped"][0], &schema["$defs"]["Skipped"]),
    ] {
        let [has, known] = keys(value, known);
        let added: Vec<_> = known.difference(&has).filter(|key| !ADDED_SINCE.contains(&key.as_str())).collect();
        assert!(has.is_subset(&known) && added.is_empty(), "{has:?} {known:?}");
    }
}

#[test]
fn the_old_result_file_is_read_with_every_sample() {
    let report = BenchReport::read(&read(OLD).to_string()).unwrap();
    let ids: Vec<String> = report.benchmarks.iter().map(super::Benchmark::id).collect();
    assert_eq!(
        ids,
        [
            "control/mem_create/device=0/size=2 MiB",
            "bandwidth/fill_id/device=0/size=4 MiB",
            "control/mem_map/size=2 MiB",
        ]
    );
    assert_eq!(report.benchmarks[0].samples[6], 19_900.0);
    assert_eq!(report.benchmarks[2].floor, None);
    assert_eq!(report.machine.devices[0].memory, 150_754_820_096);
}
