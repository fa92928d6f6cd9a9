//! Reads the log of a lift.

/// What a log tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ride {
    /// Where the lift is at the end.
    pub floor: i32,
    /// All floors that it moved.
    pub travelled: u32,
    /// The highest floor it was on.
    pub highest: i32,
    /// Where the doors opened.
    pub stops: Vec<i32>,
}

/// Reads a log, or returns the entry that cannot be read.
pub fn ride(log: &str) -> Result<Ride, String> {
    let mut ride = Ride::default();
    for entry in log.split_whitespace() {
        if entry == "O" {
            ride.stops.push(ride.floor);
            continue;
        }
        let (sign, floors) = moved(entry).ok_or_else(|| entry.to_owned())?;
        ride.travelled += floors;
        ride.floor += sign * i32::try_from(floors).map_err(|_| entry.to_owned())?;
        ride.highest = ride.highest.max(ride.floor);
    }
    Ok(ride)
}

fn moved(entry: &str) -> Option<(i32, u32)> {
    let up = entry.strip_prefix('U').map(|floors| (1, floors));
    let (sign, floors) = up.or_else(|| entry.strip_prefix('D').map(|floors| (-1, floors)))?;
    let floors = floors.chars().all(|c| c.is_ascii_digit()).then(|| floors.parse().ok()).flatten()?;
    (floors > 0).then_some((sign, floors))
}
