//! After which rounds a trial is evaluated.

/// Evenly spaced in epochs, and after the last round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Evaluations {
    every: f64,
    rounds_per_epoch: f64,
    rounds: u64,
}

impl Evaluations {
    pub(crate) fn new(every: f64, rounds_per_epoch: f64, rounds: u64) -> Self {
        Evaluations { every, rounds_per_epoch, rounds }
    }

    /// True after the rounds nearest to whole multiples of the interval.
    pub(crate) fn due_after(&self, round: u64) -> bool {
        let interval = self.every * self.rounds_per_epoch;
        let nearest = |k: f64| (k * interval).round() as u64;
        let k = (round as f64 / interval).floor();
        round == self.rounds || (round > 0 && (nearest(k) == round || nearest(k + 1.0) == round))
    }

    /// How often the data have been passed over. Where an evaluation belongs to a multiple of
    /// the interval it is that multiple, so that seeds whose epochs differ by a round can be
    /// compared.
    pub(crate) fn epoch_after(&self, round: u64) -> f64 {
        let epoch = round as f64 / self.rounds_per_epoch;
        let k = (epoch / self.every).round();
        let here = (k * self.every * self.rounds_per_epoch).round() as u64 == round;
        if here { k * self.every } else { epoch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_come_once_an_interval_and_at_the_end() {
        for (every, per_epoch, rounds) in
            [(1.0, 3.0, 90), (0.5, 3.0, 10), (2.0, 7.5, 100), (0.1, 3.0, 20), (50.0, 3.0, 10)]
        {
            let evaluations = Evaluations::new(every, per_epoch, rounds);
            let due: Vec<u64> = (1..=rounds).filter(|&r| evaluations.due_after(r)).collect();
            assert_eq!(due.last(), Some(&rounds));
            let expected = (rounds as f64 / (every * per_epoch)).ceil().min(rounds as f64);
            assert!((due.len() as f64 - expected).abs() <= 1.0, "{every} {per_epoch}: {due:?}");
            let epochs: Vec<f64> = due.iter().map(|&r| evaluations.epoch_after(r)).collect();
            assert!(epochs.windows(2).all(|pair| pair[0] < pair[1]), "{epochs:?}");
        }
        let evaluations = Evaluations::new(1.0, 2.8125, 84);
        assert!(evaluations.due_after(3) && !evaluations.due_after(4) && evaluations.due_after(6));
        assert_eq!(evaluations.epoch_after(3), 1.0);
    }
}
