//! Cycles of graphs.

/// A node that is being looked at, and how many of its edges are done.
type Open = (usize, usize);

/// Which nodes lie on a cycle: those that the method of Tarjan puts together with others, and those with an edge to
/// themselves.
pub(super) fn on_cycle(edges: &[Vec<usize>]) -> Vec<bool> {
    let mut search = Search {
        edges,
        numbers: vec![None; edges.len()],
        lowest: vec![0; edges.len()],
        on_stack: vec![false; edges.len()],
        stack: Vec::new(),
        next: 0,
        found: edges.iter().enumerate().map(|(node, next)| next.contains(&node)).collect(),
    };
    for root in 0..edges.len() {
        if search.numbers[root].is_none() {
            search.run(root);
        }
    }
    search.found
}

struct Search<'e> {
    edges: &'e [Vec<usize>],
    numbers: Vec<Option<usize>>,
    lowest: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: usize,
    found: Vec<bool>,
}

impl Search<'_> {
    fn run(&mut self, root: usize) {
        let mut open: Vec<Open> = vec![(root, 0)];
        while let Some((node, done)) = open.pop() {
            if done == 0 {
                self.enter(node);
            } else {
                let child = self.edges[node][done - 1];
                self.lowest[node] = self.lowest[node].min(self.lowest[child]);
            }
            match self.unseen(node, done) {
                Some(edge) => open.extend([(node, edge + 1), (self.edges[node][edge], 0)]),
                None => self.leave(node),
            }
        }
    }

    fn enter(&mut self, node: usize) {
        (self.numbers[node], self.lowest[node], self.on_stack[node]) = (Some(self.next), self.next, true);
        self.next += 1;
        self.stack.push(node);
    }

    /// The next edge to a node that was not seen, from the edge numbered `done` on.
    fn unseen(&mut self, node: usize, done: usize) -> Option<usize> {
        for edge in done..self.edges[node].len() {
            let next = self.edges[node][edge];
            let Some(number) = self.numbers[next] else { return Some(edge) };
            if self.on_stack[next] {
                self.lowest[node] = self.lowest[node].min(number);
            }
        }
        None
    }

    /// Takes a component off the stack, if the node is its first.
    fn leave(&mut self, node: usize) {
        if self.numbers[node] != Some(self.lowest[node]) {
            return;
        }
        let start = self.stack.iter().rposition(|member| *member == node).unwrap_or(0);
        let component = self.stack.split_off(start);
        for member in &component {
            self.on_stack[*member] = false;
            self.found[*member] |= component.len() > 1;
        }
    }
}
