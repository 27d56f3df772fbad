//! A small deterministic source of numbers (the SplitMix64 sequence).

/// The state of one sequence; equal seeds give equal sequences.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Returns the sequence of one run: seed, target and number decide it alone.
    pub fn of_run(seed: u64, target: &str, run: u64) -> Random {
        let name = target.bytes().fold(seed, |state, byte| mix(state ^ u64::from(byte)));
        Random { state: mix(name ^ mix(run)) }
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// Returns a number below `bound`, or zero where nothing is below it.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0 => 0,
            bound => (self.number() % bound as u64) as usize,
        }
    }

    /// Returns any byte.
    pub fn byte(&mut self) -> u8 {
        self.number() as u8
    }

    /// Returns one of the choices.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        choices.get(self.below(choices.len()))
    }
}

fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_decided_by_seed_target_and_number() {
        let first = |seed, target, run| Random::of_run(seed, target, run).number();
        assert_eq!(first(1, "a", 7), first(1, "a", 7));
        assert_ne!(first(1, "a", 7), first(2, "a", 7));
        assert_ne!(first(1, "a", 7), first(1, "b", 7));
        assert_ne!(first(1, "a", 7), first(1, "a", 8));
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_of_it() {
        let mut random = Random::of_run(1, "bound", 0);
        let mut seen = [false; 7];
        for _ in 0..1000 {
            seen[random.below(7)] = true;
        }
        assert_eq!(seen, [true; 7]);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.pick::<u8>(&[]), None);
    }
}
