//! Calls patients in order of urgency.

/// A waiting line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// In order of arrival.
    waiting: Vec<(String, u32)>,
}

impl Line {
    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a patient, unless one of that name waits already.
    pub fn arrive(&mut self, name: &str, urgency: u32) -> bool {
        let is_new = self.place(name).is_none();
        if is_new {
            self.waiting.push((name.to_owned(), urgency));
        }
        is_new
    }

    /// Takes the most urgent patient out of the line.
    pub fn call(&mut self) -> Option<String> {
        let most = self.waiting.iter().map(|(_, urgency)| *urgency).max()?;
        let at = self.waiting.iter().position(|(_, urgency)| *urgency == most)?;
        Some(self.waiting.remove(at).0)
    }

    /// Gives a waiting patient another urgency.
    pub fn raise(&mut self, name: &str, urgency: u32) -> bool {
        let at = self.place(name);
        if let Some(at) = at {
            self.waiting[at].1 = urgency;
        }
        at.is_some()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many will be called before a patient.
    pub fn ahead_of(&self, name: &str) -> Option<usize> {
        let at = self.place(name)?;
        let own = self.waiting[at].1;
        let is_before = |(other, (_, urgency)): &(usize, &(String, u32))| *urgency > own || (*urgency == own && *other < at);
        Some(self.waiting.iter().enumerate().filter(is_before).count())
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.waiting.iter().position(|(waiting, _)| waiting == name)
    }
}
