//! Keys of a terminal, one at a time.
//!
//! Law: whatever ends the reading, the terminal is as it was before. The terminal sends no signals meanwhile, so Ctrl-C is a
//! key like others; a signal from elsewhere is looked for several times a second.

use std::io;
use std::os::fd::AsFd;

use agent_tracer_intake::Stop;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::read;

use crate::failure::Failure;

/// The interval between two looks for a signal, in milliseconds.
const LOOK_EVERY_MS: u16 = 100;
/// The most bytes that one key sends, and some that were typed ahead.
const BYTES: usize = 64;

/// A key that was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// One of the letters that were asked for.
    Letter(char),
    /// Enter.
    Enter,
    /// The end of the input, or Escape.
    End,
    /// Ctrl-C, or a signal.
    Interrupt,
    /// Any other one.
    Other,
}

/// A terminal that gives each key at once, until this is dropped.
pub(super) struct Keyboard {
    before: Termios,
}

impl Keyboard {
    /// Takes the terminal of standard input.
    pub(super) fn open() -> Result<Keyboard, Failure> {
        let refused = |cause: Errno| Failure::new(format!("cannot read keys from the terminal: {cause}"));
        let before = tcgetattr(io::stdin()).map_err(refused)?;
        let mut raw = before.clone();
        // Without `ISIG` Ctrl-C is a key: the modes of the terminal are restored before the program ends.
        raw.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG);
        tcsetattr(io::stdin(), SetArg::TCSANOW, &raw).map_err(refused)?;
        Ok(Keyboard { before })
    }

    /// Waits for a key.
    pub(super) fn read(&self, letters: &str, stop: &Stop) -> Result<Key, Failure> {
        let stdin = io::stdin();
        let mut bytes = [0; BYTES];
        loop {
            if stop.is_requested() {
                return Ok(Key::Interrupt);
            }
            let mut waiting = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
            // Looked at a stop ten times a second: a signal that another thread waits for does not interrupt this one.
            match poll(&mut waiting, PollTimeout::from(LOOK_EVERY_MS)) {
                Ok(0) | Err(Errno::EINTR) => continue,
                Ok(_) | Err(_) => {}
            }
            return Ok(match read(stdin.as_fd(), &mut bytes) {
                Err(Errno::EINTR) => continue,
                // The terminal is gone.
                Ok(0) | Err(_) => Key::End,
                Ok(count) => key_of(bytes.get(..count).unwrap_or_default(), letters),
            });
        }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        tcsetattr(io::stdin(), SetArg::TCSANOW, &self.before).ok();
    }
}

/// Returns the key that sends these bytes. Of several at once the first one counts that has a meaning.
fn key_of(bytes: &[u8], letters: &str) -> Key {
    match bytes {
        [] | [b'\x1b'] => return Key::End,
        // An arrow or a function key: letters in it are none of ours.
        [b'\x1b', ..] => return Key::Other,
        _ => {}
    }
    let key = |byte: &u8| match byte {
        b'\x03' => Some(Key::Interrupt),
        b'\x04' => Some(Key::End),
        b'\r' | b'\n' => Some(Key::Enter),
        other => {
            let letter = char::from(other.to_ascii_lowercase());
            letters.contains(letter).then_some(Key::Letter(letter))
        }
    };
    bytes.iter().find_map(key).unwrap_or(Key::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_of_the_letters_or_says_that_it_is_none() {
        for (bytes, key) in [
            (&b"u"[..], Key::Letter('u')),
            (b"U", Key::Letter('u')),
            (b"q", Key::Letter('q')),
            (b"uq", Key::Letter('u')),
            (b"\r", Key::Enter),
            (b"\n", Key::Enter),
            (b"\x03", Key::Interrupt),
            (b"\x04", Key::End),
            (b"\x1b", Key::End),
            (b"", Key::End),
            (b"zxq", Key::Letter('q')),
            (b"x\x03", Key::Interrupt),
            (b"\x1b[A", Key::Other),
            (b"\x1b[u", Key::Other),
            (b"x", Key::Other),
            (b" ", Key::Other),
            (b"\x00", Key::Other),
            ("ü".as_bytes(), Key::Other),
            (b"\xff\xff", Key::Other),
        ] {
            assert_eq!(key_of(bytes, "ucdhq"), key, "{bytes:?}");
        }
    }
}
