//! Long work shows that it goes on: on stderr, so that results on stdout stay clean.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that is drawn only when it is told something: a thread of its own would be counted as processor time.
pub struct Bar(ProgressBar);

impl Bar {
    /// An empty bar; `unit` is what it counts.
    pub fn new(unit: &str) -> Bar {
        let template = format!("{{bar:40}} {{human_pos}} of {{human_len}} {unit}, {{eta}} left  {{msg}}");
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar(ProgressBar::new(0).with_style(style))
    }

    /// How much is done, of how much.
    pub fn set(&self, done: u32, total: u32) {
        self.0.set_length(u64::from(total));
        self.0.set_position(u64::from(done));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
