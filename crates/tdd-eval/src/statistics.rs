//! Confidence intervals, and the order of trials from a seed.

/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson's 95 % confidence interval of a share; from 0 to 1 if nothing was tried.
pub fn wilson(successes: u32, trials: u32) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (f64::from(trials), f64::from(successes) / f64::from(trials));
    let middle = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + Z * Z / n;
    (((middle - half) / whole).max(0.0), ((middle + half) / whole).min(1.0))
}

/// Shuffles a list; the same seed always gives the same order.
pub fn shuffle<T>(list: &mut [T], seed: u64) {
    let mut state = seed;
    for at in (1..list.len()).rev() {
        let bound = u64::try_from(at + 1).unwrap_or(u64::MAX);
        list.swap(at, usize::try_from(split_mix(&mut state) % bound).unwrap_or(0));
    }
}

/// `SplitMix64`: small, and good enough to shuffle.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known values, rounded to per mille.
    fn check(successes: u32, trials: u32, expected: (i32, i32)) {
        let (low, high) = wilson(successes, trials);
        #[expect(clippy::cast_possible_truncation, reason = "from 0 to 1000")]
        let rounded = ((low * 1000.0).round() as i32, (high * 1000.0).round() as i32);
        assert_eq!(rounded, expected, "{successes} of {trials}");
    }

    #[test]
    fn the_interval_is_wilsons() {
        check(0, 10, (0, 278));
        check(5, 10, (237, 763));
        check(10, 10, (722, 1000));
        check(1, 1, (207, 1000));
        check(0, 0, (0, 1000));
    }

    #[test]
    fn a_seed_decides_the_order() {
        let shuffled = |seed| {
            let mut list: Vec<u32> = (0..20).collect();
            shuffle(&mut list, seed);
            list
        };
        assert_eq!(shuffled(7), shuffled(7));
        assert_ne!(shuffled(7), shuffled(8));
        let mut sorted = shuffled(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }
}
