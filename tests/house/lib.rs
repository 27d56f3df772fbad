//! Rules about the repository itself, written as tests: which room may know which, how large a file may
//! grow, and that every room is described.
