//! Simple Base-(k+1) graphs: groups average inside, then hand over what others lack.
//!
//! Write n in base k + 1: its non-zero digits give parts of `a_l (k+1)^{p_l}` agents, the
//! largest first, and a part falls into `a_l` cells of `(k+1)^{p_l}`.
//!
//! ```text
//! 1  every part averages inside (a hyper-hypercube)          now all of part l hold mean(l)
//! 2  round l: every agent of a later part meets one agent in each cell of part l,
//!    and takes the share |part l| / |part l and later|       now the later parts hold the
//!                                                            share of part l that is due
//! 3  after its round l, every cell of part l averages inside: what its agents took
//!    over from the others is exactly what part l lacked
//! ```
//!
//! A cell is larger than all later parts together, so step 2 always finds a free agent. Those
//! of part l who meet nobody in round l hold the same value; they are grouped all the same,
//! which changes nothing here but mixes models in training, where values move in between.

use super::{Stage, hyper_hypercube};

/// A part of the agents.
struct Part {
    /// Its first agent.
    first: usize,
    /// How many cells it has: a digit of n.
    cells: usize,
    /// The size of a cell: a power of the base.
    cell: usize,
}

impl Part {
    fn agents(&self) -> usize {
        self.cells * self.cell
    }
}

/// The rounds of one period; none for a lone agent.
pub(super) fn stages(agents: usize, degree: usize) -> Vec<Stage> {
    let group = degree + 1;
    if let Some(cube) = hyper_hypercube::stages(agents, group) {
        return cube;
    }
    let parts = parts(agents, group);
    // Sizes of parts and cells have no prime factor above the base.
    let cube = |size: usize| hyper_hypercube::stages(size, group).unwrap_or_default();
    let whole: Vec<Vec<Stage>> = parts.iter().map(|part| cube(part.agents())).collect();
    let cells: Vec<Vec<Stage>> = parts.iter().map(|part| cube(part.cell)).collect();

    let mut stages = Vec::new();
    for round in 0..whole[0].len() {
        let mut stage = Stage::new();
        for (part, cube) in parts.iter().zip(&whole) {
            repeat(&mut stage, cube, round, [part.first]);
        }
        stages.push(stage);
    }
    for giver in 0..=cells[0].len() {
        let mut stage = Stage::new();
        if giver + 1 < parts.len() {
            hand_over(&mut stage, &parts, giver, group);
        }
        for (l, part) in parts.iter().enumerate() {
            // The last part gives nothing, so it needs no round for it.
            let begins = if l + 1 < parts.len() { l + 1 } else { l };
            if giver < begins {
                continue;
            }
            if part.cell == 1 {
                // Cells of one agent: the part as a whole is small enough for a group.
                repeat(&mut stage, &whole[l], giver - begins, [part.first]);
            } else {
                let firsts = (0..part.cells).map(|c| part.first + c * part.cell);
                repeat(&mut stage, &cells[l], giver - begins, firsts);
            }
        }
        stages.push(stage);
    }
    stages
}

/// The digits of `agents`, the most significant first, as parts.
fn parts(agents: usize, base: usize) -> Vec<Part> {
    let mut power = 1;
    while power <= agents / base {
        power *= base;
    }
    let mut parts = Vec::new();
    let mut first = 0;
    while power > 0 {
        let cells = (agents - first) / power;
        if cells > 0 {
            parts.push(Part { first, cells, cell: power });
            first += cells * power;
        }
        power /= base;
    }
    parts
}

/// Round `round` of a cube (again from its beginning when it is over), at each of these places.
fn repeat(
    stage: &mut Stage,
    cube: &[Stage],
    round: usize,
    firsts: impl IntoIterator<Item = usize>,
) {
    if cube.is_empty() {
        return;
    }
    for first in firsts {
        let pairs = cube[round % cube.len()].iter();
        stage.extend(pairs.map(|&(i, j, weight)| (first + i, first + j, weight)));
    }
}

/// Part `giver` and all later ones, in its round.
fn hand_over(stage: &mut Stage, parts: &[Part], giver: usize, group: usize) {
    let part = &parts[giver];
    let later = part.first + part.agents();
    let agents = parts.last().map_or(later, |last| last.first + last.agents());
    let share = part.agents() as f64 / (agents - part.first) as f64;
    let weight = share / part.cells as f64;
    let met = agents - later;
    for (place, receiver) in (later..agents).enumerate() {
        let in_every_cell = (0..part.cells).map(|c| part.first + c * part.cell + place);
        stage.extend(in_every_cell.map(|agent| (agent, receiver, weight)));
    }
    let idle: Vec<usize> = (0..part.agents())
        .filter(|place| place % part.cell >= met)
        .map(|place| part.first + place)
        .collect();
    for together in idle.chunks(group) {
        let weight = 1.0 / together.len() as f64;
        for (k, &j) in together.iter().enumerate() {
            stage.extend(together[..k].iter().map(|&i| (i, j, weight)));
        }
    }
}
