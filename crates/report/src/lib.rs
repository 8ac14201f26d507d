//! Events, result schema and text output of a run.
