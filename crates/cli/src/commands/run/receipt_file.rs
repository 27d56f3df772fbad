//! The destination of a receipt: a file, replaced as a whole and private, or standard output.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use crate::reading::json;

/// The destination of a receipt.
pub(super) enum ReceiptFile {
    /// Standard output, behind that of the agent.
    Output,
    /// This file.
    File(PathBuf),
}

impl ReceiptFile {
    /// Returns the destination, as seen from the folder in which the command was given. One that cannot be written is refused
    /// before the agent starts.
    pub(super) fn at(path: &Path, environment: &Environment) -> Result<ReceiptFile, Failure> {
        if path == Path::new("-") {
            return Ok(ReceiptFile::Output);
        }
        let path = environment.absolute(path);
        let folder = path.parent().unwrap_or(Path::new("/"));
        if path.is_dir() || !folder.is_dir() {
            let what = if path.is_dir() { "it is a folder" } else { "its folder does not exist" };
            return Err(Failure::usage(format!("cannot write the receipt `{}`: {what}", path.display()))
                .hint("name a file in a folder that exists"));
        }
        Ok(ReceiptFile::File(path))
    }

    /// Writes the receipt.
    pub(super) fn write(&self, receipt: &impl Serialize, output: &mut Output) -> Result<(), Failure> {
        let text = json(receipt)?;
        match self {
            ReceiptFile::Output => output.data(&text),
            ReceiptFile::File(path) => files::write_private(path, text.as_bytes()),
        }
    }
}
