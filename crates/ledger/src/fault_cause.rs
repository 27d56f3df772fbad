//! The cause of an error of the store, as an error and not as its text: a caller can look for what the engine or the system
//! reported, and the message stays one line.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An error of the engine or the system, or a condition that the store found itself.
///
/// It can be cloned, because one failed commit is the answer to every batch in it.
#[derive(Clone)]
pub struct FaultCause {
    file: Option<PathBuf>,
    error: Arc<dyn Error + Send + Sync>,
}

impl FaultCause {
    /// Returns an error as a cause.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { file: None, error: Arc::from(error.into()) }
    }

    /// Returns an error of an operation on a file as a cause.
    pub(crate) fn of_file(file: &Path, error: std::io::Error) -> Self {
        Self { file: Some(file.to_owned()), ..Self::new(error) }
    }

    /// Returns the reported error if it is of this type.
    #[must_use]
    pub fn downcast_ref<T: Error + 'static>(&self) -> Option<&T> {
        self.error.downcast_ref()
    }
}

impl fmt::Display for FaultCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "`{}`", file.display()),
            None => self.error.fmt(f),
        }
    }
}

impl fmt::Debug for FaultCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultCause").field("file", &self.file).field("error", &self.error).finish()
    }
}

impl Error for FaultCause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.file {
            Some(_) => Some(self.error.as_ref()),
            // Without a file it reads as the error itself does, which a list of causes would then have twice.
            None => self.error.source(),
        }
    }
}

// Errors of the engine cannot be compared; two causes that read alike are one.
impl PartialEq for FaultCause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for FaultCause {}

impl From<&str> for FaultCause {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for FaultCause {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<rusqlite::Error> for FaultCause {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(error)
    }
}

impl From<std::io::Error> for FaultCause {
    fn from(error: std::io::Error) -> Self {
        Self::new(error)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::error_text;
    use crate::{AppendError, OpenError, QueryError};

    #[test]
    fn an_error_of_the_store_leads_to_what_the_engine_reported() {
        let error = AppendError::Store(rusqlite::Error::InvalidQuery.into());
        assert_eq!(error.to_string(), "the store could not write");
        assert_eq!(error_text(&error), "the store could not write: Query is not read-only");
        let cause = error.source().and_then(|cause| cause.downcast_ref::<FaultCause>()).expect("a cause");
        assert_eq!(cause.downcast_ref::<rusqlite::Error>(), Some(&rusqlite::Error::InvalidQuery));
        let error = QueryError::from(rusqlite::Error::InvalidQuery);
        assert!(error.source().is_some_and(|cause| cause.is::<FaultCause>()), "{error:?}");
    }

    #[test]
    fn a_cause_with_a_file_names_it_and_leads_to_the_error_of_the_system() {
        let error = OpenError::Io(FaultCause::of_file(Path::new("/a"), io::ErrorKind::NotFound.into()));
        assert!(error.to_string().starts_with("the store cannot be opened\nhint: "));
        let text = error_text(&error);
        assert!(
            text.starts_with("the store cannot be opened: `/a`: entity not found\nhint: check"),
            "{text}"
        );
        let cause =
            error.source().and_then(Error::source).and_then(|cause| cause.downcast_ref::<io::Error>());
        assert_eq!(cause.map(io::Error::kind), Some(io::ErrorKind::NotFound));
    }

    #[test]
    fn every_cause_of_a_wrapped_error_is_shown_with_its_hint() {
        let cause = FaultCause::of_file(Path::new("/a"), io::ErrorKind::NotFound.into());
        let inner = QueryError::Store(FaultCause::new(OpenError::Journal(cause)));
        let text = error_text(&AppendError::Item(FaultCause::new(inner)));
        let (causes, hint) = text.split_once("\nhint: ").expect("a hint");
        assert_eq!(
            causes,
            "the store could not write this: the store could not answer: the journal of posts cannot be opened: `/a`: \
             entity not found"
        );
        assert!(!hint.contains("\nhint: "), "{hint}");
    }
}
