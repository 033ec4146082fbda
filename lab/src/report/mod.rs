//! Documents, as people like to read them: tables, plots, pages, verdicts.

pub mod axis;
pub mod bars;
pub mod chart;
pub mod csv;
pub mod html;
pub mod layer;
pub mod number;
pub mod page;
pub mod svg;
pub mod timeline;
pub mod verdict;
