//! Numbers of the settings, between their bounds.

use serde::de::{Deserialize, Deserializer, Error};

/// Reads a whole number between two bounds, both allowed.
pub(crate) fn between<'de, const LEAST: i64, const MOST: i64, N: From<u32>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<N, D::Error> {
    let number = i64::deserialize(deserializer)?;
    let sound = Some(number).filter(|number| (LEAST..=MOST).contains(number));
    match sound.and_then(|number| u32::try_from(number).ok()) {
        Some(number) => Ok(number.into()),
        None => Err(D::Error::custom(format!("`{number}` is not between {LEAST} and {MOST}"))),
    }
}
