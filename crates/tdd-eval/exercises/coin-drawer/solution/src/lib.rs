//! Gives change.

/// The coins to hand out, the largest value first; `None` if the drawer cannot make the amount.
pub fn change(drawer: &[(u32, u32)], amount: u32) -> Option<Vec<(u32, u32)>> {
    let mut drawer = drawer.to_vec();
    drawer.sort_unstable_by(|a, b| b.cmp(a));
    from_sorted(&drawer, amount)
}

fn from_sorted(drawer: &[(u32, u32)], amount: u32) -> Option<Vec<(u32, u32)>> {
    if amount == 0 {
        return Some(Vec::new());
    }
    let (&(value, count), rest) = drawer.split_first()?;
    let most = if value == 0 { 0 } else { count.min(amount / value) };
    (0..=most).rev().find_map(|used| {
        let mut coins = from_sorted(rest, amount - used * value)?;
        if used > 0 {
            coins.insert(0, (value, used));
        }
        Some(coins)
    })
}
