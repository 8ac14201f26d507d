//! Suites as XML.

use std::borrow::Cow;
use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::case::{Case, Outcome, Suite};

/// Where the XML goes.
type Sink = Writer<Vec<u8>>;

/// The suites as one XML document, valid by the schema of Jenkins' xUnit plugin (`junit-10.xsd`). Ends with a line end.
///
/// No case says how long it took: a benchmark has its own times, and they are no time of a test.
///
/// # Panics
/// Never: memory takes all that is written to it, and every text is made one that XML can hold.
#[must_use]
pub fn xml(suites: &[Suite]) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    document(&mut writer, suites).expect("memory takes all that is written to it");
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("what is made of texts is one")
}

fn document(writer: &mut Sink, suites: &[Suite]) -> io::Result<()> {
    let total = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>().to_string();
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let root = writer.create_element("testsuites").with_attributes([
        ("name", "peermap"),
        ("tests", &total(|suite| suite.cases.len())),
        ("failures", &total(Suite::failures)),
        ("errors", "0"),
    ]);
    root.write_inner_content(|writer| suites.iter().try_for_each(|one| suite(writer, one))).map(drop)
}

fn suite(writer: &mut Sink, suite: &Suite) -> io::Result<()> {
    let element = writer.create_element("testsuite").with_attributes([
        ("name", &*legal(&suite.name)),
        ("tests", &suite.cases.len().to_string()),
        ("failures", &suite.failures().to_string()),
        ("errors", "0"),
        ("skipped", &suite.skipped().to_string()),
    ]);
    let content = |writer: &mut Sink| {
        if !suite.properties.is_empty() {
            writer.create_element("properties").write_inner_content(|writer| properties(writer, &suite.properties))?;
        }
        suite.cases.iter().try_for_each(|one| case(writer, one))
    };
    element.write_inner_content(content).map(drop)
}

fn properties(writer: &mut Sink, properties: &[(String, String)]) -> io::Result<()> {
    properties.iter().try_for_each(|(name, value)| {
        let property = writer.create_element("property");
        property.with_attributes([("name", &*legal(name)), ("value", &*legal(value))]).write_empty().map(drop)
    })
}

fn case(writer: &mut Sink, case: &Case) -> io::Result<()> {
    let (class, name) = (legal(&case.class), legal(&case.name));
    let element = writer.create_element("testcase").with_attributes([("classname", &*class), ("name", &*name)]);
    match &case.outcome {
        Outcome::Passed => element.write_empty(),
        Outcome::Skipped(reason) => element.write_inner_content(|writer| {
            writer.create_element("skipped").with_attribute(("message", &*legal(reason))).write_empty().map(drop)
        }),
        Outcome::Failed { message, details } => element.write_inner_content(|writer| {
            let failure = writer.create_element("failure").with_attribute(("message", &*legal(message)));
            failure.write_text_content(BytesText::new(&legal(details))).map(drop)
        }),
    }
    .map(drop)
}

/// A text without the signs that XML cannot hold in any form.
fn legal(text: &str) -> Cow<'_, str> {
    let is_legal =
        |sign: char| !matches!(sign, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    if text.chars().all(is_legal) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|sign| if is_legal(sign) { sign } else { char::REPLACEMENT_CHARACTER }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_counts_its_cases_and_none_that_was_skipped_has_passed() {
        let failed = Outcome::Failed { message: "slow".to_owned(), details: "1 < 2".to_owned() };
        let outcomes = [Outcome::Passed, failed, Outcome::Skipped("noise".to_owned())];
        let cases = outcomes.into_iter().zip(["a/x", "a/y", "b"]).map(|(outcome, id)| Case::of_id(id, outcome));
        let properties = vec![("threshold".to_owned(), "5 %".to_owned())];
        let text = xml(&[Suite { name: "verdicts".to_owned(), properties, cases: cases.collect() }]);
        assert_eq!(
            text,
            r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="peermap" tests="3" failures="1" errors="0">
  <testsuite name="verdicts" tests="3" failures="1" errors="0" skipped="1">
    <properties>
      <property name="threshold" value="5 %"/>
    </properties>
    <testcase classname="a" name="x"/>
    <testcase classname="a" name="y">
      <failure message="slow">1 &lt; 2</failure>
    </testcase>
    <testcase classname="b" name="b">
      <skipped message="noise"/>
    </testcase>
  </testsuite>
</testsuites>
"#
        );
    }

    #[test]
    fn texts_of_files_can_be_anything() {
        let odd = Case::of_id("\u{0}\"<&\u{1b}[31m/é\u{ffff}", Outcome::Skipped("]]>'\u{7}".to_owned()));
        let text = xml(&[Suite { name: "<".to_owned(), properties: Vec::new(), cases: vec![odd] }]);
        let line = "<testcase classname=\"\u{fffd}&quot;&lt;&amp;\u{fffd}[31m\" name=\"é\u{fffd}\">";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("message=\"]]&gt;&apos;\u{fffd}\""), "{text}");
    }

    #[test]
    fn nothing_is_a_document_too() {
        assert!(
            xml(&[]).contains("<testsuites name=\"peermap\" tests=\"0\" failures=\"0\" errors=\"0\""),
            "{}",
            xml(&[])
        );
    }
}
