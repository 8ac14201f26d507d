//! Dominators, by the method of Lengauer and Tarjan.

use super::control_flow::{BlockId, ControlFlow};

/// For each block the nearest one that every path passes: from the start, or to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    immediate: Vec<Option<BlockId>>,
    depth: Vec<u32>,
}

impl Dominators {
    /// Through which blocks every path from the start passes.
    #[must_use]
    pub fn of(flow: &ControlFlow) -> Self {
        let edges = |from: usize| flow.blocks()[from].successors.iter().map(|block| block.index()).collect();
        let edges: Vec<Vec<usize>> = (0..flow.blocks().len()).map(edges).collect();
        Self::from_tree(&tree(&edges, 0), flow.blocks().len())
    }

    /// Through which blocks every path to the end passes. The immediate one of a block that ends in a branch is where
    /// the threads that part there meet again; `None` if that is only at the end, and for what never ends. A thread
    /// that ends where others go on does not count: nobody waits for it.
    #[must_use]
    pub fn post(flow: &ControlFlow) -> Self {
        let end = flow.blocks().len();
        let mut edges: Vec<Vec<usize>> = flow
            .blocks()
            .iter()
            .map(|block| block.predecessors.iter().map(|before| before.index()).collect())
            .collect();
        edges.push((0..end).filter(|block| flow.blocks()[*block].successors.is_empty()).collect());
        Self::from_tree(&tree(&edges, end), end)
    }

    fn from_tree(parents: &[Option<usize>], blocks: usize) -> Self {
        let id = |parent: usize| (parent < blocks).then(|| BlockId(u32::try_from(parent).unwrap_or(u32::MAX)));
        let immediate: Vec<_> = parents[..blocks].iter().map(|parent| parent.and_then(id)).collect();
        let mut depth = vec![0; blocks];
        for start in 0..blocks {
            // The blocks above whose depth is not known yet, the nearest first.
            let mut above = vec![start];
            while let Some(parent) = above.last().and_then(|last| immediate[*last])
                && depth[parent.index()] == 0
            {
                above.push(parent.index());
            }
            while let Some(block) = above.pop() {
                depth[block] = immediate[block].map_or(0, |parent| depth[parent.index()]) + 1;
            }
        }
        Self { immediate, depth }
    }

    /// The nearest block that dominates this one and is another; `None` for the first, and for what is not reached.
    #[must_use]
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.immediate[block.index()]
    }

    /// Whether every path that reaches `block` passes `dominator`. A block dominates itself.
    #[must_use]
    pub fn dominates(&self, dominator: BlockId, block: BlockId) -> bool {
        let mut block = block;
        while self.depth[block.index()] > self.depth[dominator.index()] {
            match self.immediate(block) {
                Some(parent) => block = parent,
                None => return false,
            }
        }
        block == dominator
    }
}

/// The immediate dominator of each node that `root` reaches.
fn tree(edges: &[Vec<usize>], root: usize) -> Vec<Option<usize>> {
    let search = Search::new(edges, root);
    let count = search.order.len();
    let mut forest = Forest::new(count);
    let mut semi: Vec<usize> = (0..count).collect();
    let mut dominator = vec![0; count];
    let mut buckets: Vec<Vec<usize>> = vec![Vec::new(); count];
    // Nodes are their numbers in the search from here on.
    for node in (1..count).rev() {
        for before in &search.predecessors[node] {
            semi[node] = semi[node].min(semi[forest.lowest(*before, &semi)]);
        }
        buckets[semi[node]].push(node);
        let parent = search.parents[node];
        forest.link(parent, node);
        for waiting in std::mem::take(&mut buckets[parent]) {
            let lowest = forest.lowest(waiting, &semi);
            dominator[waiting] = if semi[lowest] < semi[waiting] { lowest } else { parent };
        }
    }
    let mut immediate = vec![None; edges.len()];
    for node in 1..count {
        if dominator[node] != semi[node] {
            dominator[node] = dominator[dominator[node]];
        }
        immediate[search.order[node]] = Some(search.order[dominator[node]]);
    }
    immediate
}

/// A search in depth, which numbers what it reaches.
struct Search {
    /// The node of each number.
    order: Vec<usize>,
    /// The number that each number was reached from.
    parents: Vec<usize>,
    /// The numbers with an edge to each number.
    predecessors: Vec<Vec<usize>>,
}

impl Search {
    fn new(edges: &[Vec<usize>], root: usize) -> Self {
        let mut numbers = vec![usize::MAX; edges.len()];
        let (mut order, mut parents) = (Vec::new(), Vec::new());
        let mut open = vec![(root, 0)];
        while let Some((node, parent)) = open.pop() {
            if numbers[node] != usize::MAX {
                continue;
            }
            numbers[node] = order.len();
            parents.push(parent);
            order.push(node);
            let number = numbers[node];
            open.extend(edges[node].iter().rev().map(|next| (*next, number)));
        }
        let mut predecessors = vec![Vec::new(); order.len()];
        for (number, node) in order.iter().enumerate() {
            edges[*node].iter().for_each(|next| predecessors[numbers[*next]].push(number));
        }
        Self { order, parents, predecessors }
    }
}

/// Trees of nodes that are done, whose paths get shorter when they are walked.
struct Forest {
    ancestor: Vec<Option<usize>>,
    label: Vec<usize>,
}

impl Forest {
    fn new(count: usize) -> Self {
        Self { ancestor: vec![None; count], label: (0..count).collect() }
    }

    fn link(&mut self, parent: usize, node: usize) {
        self.ancestor[node] = Some(parent);
    }

    /// The node with the lowest semidominator on the path from `node` up to below the root of its tree.
    fn lowest(&mut self, node: usize, semi: &[usize]) -> usize {
        let mut path = Vec::new();
        let mut top = node;
        while let Some(above) = self.ancestor[top].filter(|above| self.ancestor[*above].is_some()) {
            path.push(top);
            top = above;
        }
        while let Some(below) = path.pop() {
            let above = self.ancestor[below].unwrap_or(below);
            if semi[self.label[above]] < semi[self.label[below]] {
                self.label[below] = self.label[above];
            }
            self.ancestor[below] = self.ancestor[above];
        }
        self.label[node]
    }
}
