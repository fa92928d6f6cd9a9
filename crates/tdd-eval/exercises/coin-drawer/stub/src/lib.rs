//! Gives change.

/// The coins to hand out, the largest value first; `None` if the drawer cannot make the amount.
pub fn change(drawer: &[(u32, u32)], amount: u32) -> Option<Vec<(u32, u32)>> {
    todo!("{amount} from {drawer:?}")
}
