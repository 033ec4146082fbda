//! Where will it be.
