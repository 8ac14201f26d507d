//! Which lines share a figure.

use super::figure::KINDS;
use super::series::Series;

/// Fewer lines are not worth a figure of their own.
const FEWEST: usize = 3;

/// The lines of one figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    /// What all its lines have in common, which their labels then leave out: `memory imported`.
    pub(super) common: Option<String>,
    pub(super) lines: Vec<Series>,
}

/// Lines that differ in their name alone share figures. The others share what is left, in their order.
pub(super) fn gather(lines: Vec<Series>) -> Vec<Figure> {
    let mut groups: Vec<(String, Vec<Series>)> = Vec::new();
    for line in lines {
        let common = line.label.split_once(", ").map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        match groups.iter_mut().find(|(known, _)| *known == common) {
            Some((_, group)) => group.push(line),
            None => groups.push((common, vec![line])),
        }
    }
    let is_own = |(common, group): &(String, Vec<Series>)| !common.is_empty() && group.len() >= FEWEST;
    let (own, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_own);
    let named = own.into_iter().flat_map(|(common, group)| spread(Some(common), group));
    let others = others.into_iter().flat_map(|(_, group)| group).collect();
    named.chain(spread(None, others)).collect()
}

/// Figures of about the same number of lines: seven are four and three, not six and one.
fn spread(common: Option<String>, mut lines: Vec<Series>) -> Vec<Figure> {
    if common.is_some() {
        for line in &mut lines {
            line.label.truncate(line.label.find(", ").unwrap_or(line.label.len()));
        }
    }
    let figures = lines.len().div_ceil(KINDS).max(1);
    let each = lines.len().div_ceil(figures).max(1);
    lines.chunks(each).map(|lines| Figure { common: common.clone(), lines: lines.to_vec() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(labels: &[&str]) -> Vec<(Option<String>, Vec<String>)> {
        let line = |label: &&str| Series { label: (*label).to_owned(), points: Vec::new() };
        let figures = gather(labels.iter().map(line).collect()).into_iter();
        figures.map(|figure| (figure.common, figure.lines.into_iter().map(|line| line.label).collect())).collect()
    }

    #[test]
    fn lines_that_differ_in_their_name_alone_share_a_figure() {
        let figures = gathered(&["a, own", "a, peer", "b, own", "b, peer", "init", "c, own", "a, peers 1"]);
        assert_eq!(figures[0], (Some("own".to_owned()), ["a", "b", "c"].map(str::to_owned).into()));
        assert_eq!(figures[1], (None, ["a, peer", "b, peer", "init", "a, peers 1"].map(str::to_owned).into()));
        assert_eq!(figures.len(), 2);
    }

    #[test]
    fn lines_are_spread_evenly_over_figures() {
        let counts = |labels: &[&str]| gathered(labels).iter().map(|(_, lines)| lines.len()).collect::<Vec<_>>();
        assert_eq!(counts(&["a", "b", "c", "d", "e", "f", "g"]), [4, 3]);
        assert_eq!(counts(&[]), [0; 0]);
    }
}
