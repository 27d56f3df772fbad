//! The bytes of a file from a position on, plain or decompressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

use agent_tracer_agents::sessions::Form;
use ruzstd::decoding::StreamingDecoder;

/// The most bytes from one compressed file. Rollouts of weeks have a few hundred megabytes.
const DECOMPRESSED_MAX: u64 = 8 << 30;

/// Opens a file of an agent from its beginning, decompressed if need be.
pub fn open(path: &Path, form: Form) -> io::Result<impl Read + use<>> {
    Bytes::open(super::plain::open(path)?, form == Form::CompressedLines, 0)
}

/// Bytes that are read one after the other.
pub(super) enum Bytes {
    Plain(File),
    Compressed(Box<Compressed>),
}

impl Bytes {
    /// Starts at a position of the (decompressed) bytes.
    pub(super) fn open(mut file: File, compressed: bool, position: u64) -> io::Result<Self> {
        if !compressed {
            file.seek(SeekFrom::Start(position))?;
            return Ok(Self::Plain(file));
        }
        file.seek(SeekFrom::Start(0))?;
        let mut bytes = Compressed { frame: Frame::Between(BufReader::new(file)), left: DECOMPRESSED_MAX };
        let skipped = io::copy(&mut (&mut bytes).take(position), &mut io::sink())?;
        if skipped < position {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is shorter than it was"));
        }
        Ok(Self::Compressed(Box::new(bytes)))
    }
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Self::Plain(file) => file.read(buffer),
                Self::Compressed(bytes) => bytes.read(buffer),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

/// Frames of zstd, one after the other.
pub(super) struct Compressed {
    frame: Frame,
    left: u64,
}

enum Frame {
    Inside(Box<StreamingDecoder<BufReader<File>, ruzstd::decoding::FrameDecoder>>),
    Between(BufReader<File>),
    /// Damaged; nothing follows.
    Broken,
}

impl Read for Compressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.frame, Frame::Broken) {
                Frame::Inside(mut decoder) => {
                    let read = decoder.read(buffer)?;
                    if read == 0 && !buffer.is_empty() {
                        self.frame = Frame::Between(decoder.into_inner());
                        continue;
                    }
                    self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
                        io::Error::new(io::ErrorKind::FileTooLarge, "it decompresses to more than 8 GiB")
                    })?;
                    self.frame = Frame::Inside(decoder);
                    return Ok(read);
                }
                Frame::Between(mut file) => {
                    if file.fill_buf()?.is_empty() {
                        self.frame = Frame::Between(file);
                        return Ok(0);
                    }
                    let decoder = StreamingDecoder::new(file)
                        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                    self.frame = Frame::Inside(Box::new(decoder));
                }
                Frame::Broken => return Err(io::Error::new(io::ErrorKind::InvalidData, "it is damaged")),
            }
        }
    }
}

/// Reads up to `length` bytes at a place, without moving the position; fewer if the file ends there.
pub(super) fn read_at(file: &File, place: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, place + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
