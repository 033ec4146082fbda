//! One file or folder per family of figures: settings in, a document out.

pub mod prediction;
