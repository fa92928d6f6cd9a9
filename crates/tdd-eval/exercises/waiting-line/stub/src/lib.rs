//! Calls patients in order of urgency.

/// A waiting line.
#[derive(Clone, Debug, Default)]
pub struct Line {}

impl Line {
    /// An empty line.
    pub fn new() -> Self {
        todo!()
    }

    /// Adds a patient, unless one of that name waits already.
    pub fn arrive(&mut self, name: &str, urgency: u32) -> bool {
        todo!("{name} {urgency}")
    }

    /// Takes the most urgent patient out of the line.
    pub fn call(&mut self) -> Option<String> {
        todo!()
    }

    /// Gives a waiting patient another urgency.
    pub fn raise(&mut self, name: &str, urgency: u32) -> bool {
        todo!("{name} {urgency}")
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        todo!()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        todo!()
    }

    /// How many will be called before a patient.
    pub fn ahead_of(&self, name: &str) -> Option<usize> {
        todo!("{name}")
    }
}
