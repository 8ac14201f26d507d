//! What ptxas accepts is accepted, and what it refuses is refused. Each line of the two lists was given to
//! ptxas 13.0.88 for `sm_90a` and `sm_100a`, behind the declarations that are used here.

use crate::parse;

const ACCEPTED: &str = include_str!("../data/accepted.txt");
const REFUSED: &str = include_str!("../data/refused.txt");

fn statements(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[test]
fn what_it_accepts_is_accepted() {
    let wrong: Vec<_> = statements(ACCEPTED).filter_map(|line| Some((line, parse(line).err()?.to_string()))).collect();
    assert!(statements(ACCEPTED).count() > 400);
    assert_eq!(wrong, []);
}

#[test]
fn what_it_refuses_is_refused() {
    let wrong: Vec<_> = statements(REFUSED).filter(|line| parse(line).is_ok()).collect();
    assert!(statements(REFUSED).count() > 150);
    assert_eq!(wrong, [""; 0]);
}
