//! The text of an error with its causes, for people and logs.
//!
//! An error of this program names what was attempted and keeps its cause as its source. Who shows it calls [`error_text`].

use std::error::Error;
use std::io;
use std::iter::successors;

/// Returns the sentence of an error, followed by those of its causes, and then the hints of all of them on their own lines.
#[must_use]
pub fn error_text(error: &dyn Error) -> String {
    let (mut sentence, mut hints) = (String::new(), Vec::new());
    let first = error.to_string();
    let causes =
        successors(error.source(), |cause: &&(dyn Error + 'static)| (*cause).source()).map(cause_text);
    for text in std::iter::once(first).chain(causes) {
        let mut parts = text.split("\nhint: ");
        let own = parts.next().unwrap_or_default();
        // Libraries such as `ureq` paste their cause into their text, which would then stand there twice.
        if sentence.is_empty() {
            sentence.push_str(own);
        } else if !sentence.contains(own) {
            sentence.push_str(": ");
            sentence.push_str(own);
        }
        hints.extend(parts.filter(|hint| !hint.is_empty()).map(str::to_owned));
    }
    hints.iter().fold(sentence, |text, hint| format!("{text}\nhint: {hint}"))
}

/// Returns the text of a cause. One of the system comes without its number: `permission denied`.
fn cause_text(cause: &(dyn Error + 'static)) -> String {
    let text = cause.to_string();
    if !cause.is::<io::Error>() {
        return text;
    }
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FaultCause;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot ask\nhint: see whether it runs")]
    struct Unreachable(#[source] FaultCause);

    #[test]
    fn causes_follow_the_sentence_and_hints_come_last() {
        let error = Unreachable(io::Error::from_raw_os_error(13).into());
        assert_eq!(
            error_text(&error),
            "cannot ask: Permission denied (os error 13)\nhint: see whether it runs",
            "a cause of the store reads as the error in it"
        );
        assert_eq!(
            error_text(&io::Error::other(error)),
            error_text(&Unreachable(io::Error::from_raw_os_error(13).into()))
        );
    }

    #[test]
    fn an_error_of_the_system_has_no_number_and_no_cause_is_repeated() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot read `x`")]
        struct Read(#[source] io::Error);
        assert_eq!(error_text(&Read(io::Error::from_raw_os_error(13))), "cannot read `x`: permission denied");
        #[derive(Debug, thiserror::Error)]
        #[error("it failed: {0}")]
        struct Pasting(#[source] FaultCause);
        assert_eq!(error_text(&Pasting("no disk".into())), "it failed: no disk");
    }
}
