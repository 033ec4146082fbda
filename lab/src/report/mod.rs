//! What a report is made of: tables, plots, claims, pages.

pub mod axis;
pub mod bars;
pub mod chart;
pub mod claim;
pub mod csv;
pub mod html;
pub mod layer;
pub mod number;
pub mod page;
pub mod svg;
pub mod timeline;
