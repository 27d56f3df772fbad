//! Protobuf, as far as this protocol needs it: a message becomes the JSON that its mapping asks for.
//!
//! A message is a row of fields: a varint of number and type, then a varint, eight bytes, four bytes, or a length and
//! that many bytes. Fields that no table names are passed over. Whatever the bytes are, reading them ends: values lie
//! inside their message, and messages inside each other only so deep.

mod schema;

use serde_json::{Map, Number, Value};

use super::Signal;
use crate::extent::{Bounds, Extent};
use schema::{Field, Holds};

/// Limits how deep messages may lie inside each other. Values of attributes may hold lists of values.
const DEPTH: usize = 64;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It ends within a field.
    #[error("it breaks off")]
    Short,
    /// A whole number of more than 64 bits.
    #[error("a number is too long")]
    LongNumber,
    /// A type of the wire that is none.
    #[error("a field has a type that is not in use")]
    Type,
    /// A known field with another type.
    #[error("a field is of another type than it should be")]
    OtherType,
    /// A text in another encoding.
    #[error("a text is not UTF-8")]
    NotText,
    /// Deeper than anybody means.
    #[error("messages lie too deep inside each other")]
    Deep,
    /// More than is built of one export.
    #[error("it holds too many values")]
    Many,
}

/// Reads an export within [`Bounds::POSTED`]: the same as its JSON says, whatever the bytes.
pub fn decode(signal: Signal, bytes: &[u8]) -> Result<Value, Fault> {
    let mut extent = Extent::default();
    message(bytes, schema::of(signal), 0, &mut extent).map(Value::Object)
}

/// A value as it stands on the wire.
enum Raw<'a> {
    Varint(u64),
    Eight([u8; 8]),
    Four,
    Bytes(&'a [u8]),
}

fn message(
    mut bytes: &[u8],
    fields: &'static [Field],
    depth: usize,
    extent: &mut Extent,
) -> Result<Map<String, Value>, Fault> {
    if depth > DEPTH {
        return Err(Fault::Deep);
    }
    extent.containers += 1;
    let mut members = Map::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let raw = raw(&mut bytes, tag & 7)?;
        // An unknown field is skipped, as the format asks: newer exporters have more of them.
        let Some(field) = fields.iter().find(|field| field.number == tag >> 3) else { continue };
        // Before the value is built: a small compressed body could hold more values than memory has room for.
        extent.values += 1;
        if !Bounds::POSTED.hold(*extent) {
            return Err(Fault::Many);
        }
        let value = value(&field.holds, raw, depth, extent)?;
        match field.holds {
            Holds::Many(_) => match members.entry(field.name).or_insert_with(|| Value::Array(Vec::new())) {
                Value::Array(items) => items.push(value),
                _ => return Err(Fault::OtherType),
            },
            _ => {
                members.insert(field.name.to_owned(), value);
            }
        }
    }
    Ok(members)
}

fn value(holds: &Holds, raw: Raw<'_>, depth: usize, extent: &mut Extent) -> Result<Value, Fault> {
    Ok(match (holds, raw) {
        (Holds::Text, Raw::Bytes(bytes)) => {
            Value::from(std::str::from_utf8(bytes).map_err(|_| Fault::NotText)?)
        }
        (Holds::Id, Raw::Bytes(bytes)) => Value::from(hex(bytes)),
        (Holds::Bytes, Raw::Bytes(bytes)) => Value::from(base64(bytes)),
        (Holds::Integer, Raw::Varint(number)) => Value::from(number.cast_signed()),
        (Holds::Small, Raw::Varint(number)) => Value::from(number),
        (Holds::Flag, Raw::Varint(number)) => Value::from(number != 0),
        // As a text, because the mapping writes 64-bit times so, and a reader of JSON would round them.
        (Holds::Fixed, Raw::Eight(bytes)) => Value::from(u64::from_le_bytes(bytes).to_string()),
        // The mapping writes values that are no numbers as texts; those have no reader.
        (Holds::Real, Raw::Eight(bytes)) => {
            Number::from_f64(f64::from_le_bytes(bytes)).map_or(Value::Null, Value::Number)
        }
        (Holds::One(fields) | Holds::Many(fields), Raw::Bytes(bytes)) => {
            Value::Object(message(bytes, fields, depth + 1, extent)?)
        }
        _ => return Err(Fault::OtherType),
    })
}

fn raw<'a>(bytes: &mut &'a [u8], kind: u64) -> Result<Raw<'a>, Fault> {
    match kind {
        0 => varint(bytes).map(Raw::Varint),
        1 => {
            let (eight, rest) = bytes.split_first_chunk::<8>().ok_or(Fault::Short)?;
            *bytes = rest;
            Ok(Raw::Eight(*eight))
        }
        2 => {
            let length = usize::try_from(varint(bytes)?).map_err(|_| Fault::Short)?;
            let (inner, rest) = bytes.split_at_checked(length).ok_or(Fault::Short)?;
            *bytes = rest;
            Ok(Raw::Bytes(inner))
        }
        5 => {
            let (_, rest) = bytes.split_first_chunk::<4>().ok_or(Fault::Short)?;
            *bytes = rest;
            Ok(Raw::Four)
        }
        _ => Err(Fault::Type),
    }
}

fn varint(bytes: &mut &[u8]) -> Result<u64, Fault> {
    let mut number = 0_u64;
    for shift in (0..70).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(Fault::Short)?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return Err(Fault::LongNumber);
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Fault::LongNumber)
}

/// Writes a field that is a whole number.
pub fn put_number(out: &mut Vec<u8>, number: u64, value: u64) {
    put_varint(out, number << 3);
    put_varint(out, value);
}

/// Writes a field that is a text, bytes or a message.
pub fn put_bytes(out: &mut Vec<u8>, number: u64, value: &[u8]) {
    put_varint(out, (number << 3) | 2);
    put_varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let byte = |index: usize| u32::from(part.get(index).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for place in 0..4_usize {
            let letter = LETTERS.get((bits >> (18 - 6 * place)) as usize & 63).copied().unwrap_or(b'=');
            text.push(if place <= part.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn field(out: &mut Vec<u8>, number: u64, inner: &[u8]) {
        put_bytes(out, number, inner);
    }

    fn attribute(key: &str, any: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        field(&mut out, 1, key.as_bytes());
        field(&mut out, 2, any);
        out
    }

    #[test]
    fn a_log_record_becomes_the_json_of_its_mapping() {
        let mut text = Vec::new();
        field(&mut text, 1, b"claude-code");
        let mut resource = Vec::new();
        field(&mut resource, 1, &attribute("service.name", &text));
        let mut number = Vec::new();
        put_number(&mut number, 3, (-7_i64).cast_unsigned());
        let mut record = vec![0x09];
        record.extend_from_slice(&1_794_772_609_918_000_000_u64.to_le_bytes());
        field(&mut record, 6, &attribute("n", &number));
        field(&mut record, 9, &[0xab, 0x01]);
        put_number(&mut record, 99, 5);
        let mut scope = Vec::new();
        field(&mut scope, 2, &record);
        let mut resource_logs = Vec::new();
        field(&mut resource_logs, 1, &resource);
        field(&mut resource_logs, 2, &scope);
        let mut export = Vec::new();
        field(&mut export, 1, &resource_logs);
        let expected = json!({"resourceLogs": [{
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "claude-code"}}]},
            "scopeLogs": [{"logRecords": [{
                "timeUnixNano": "1794772609918000000",
                "attributes": [{"key": "n", "value": {"intValue": -7}}],
                "traceId": "ab01",
            }]}],
        }]});
        assert_eq!(decode(Signal::Logs, &export), Ok(expected));
    }

    #[test]
    fn base_64_is_padded() {
        for (bytes, text) in
            [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v"), (b"foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes), text);
        }
    }

    #[test]
    fn values_inside_values_end_somewhere() {
        let mut any = Vec::new();
        for _ in 0..200 {
            let (mut array, mut outer) = (Vec::new(), Vec::new());
            field(&mut array, 1, &any);
            field(&mut outer, 5, &array);
            any = outer;
        }
        let mut export = attribute("k", &any);
        for number in [6, 2, 2, 1] {
            let mut outer = Vec::new();
            field(&mut outer, number, &export);
            export = outer;
        }
        assert_eq!(decode(Signal::Logs, &export), Err(Fault::Deep));
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            for signal in [Signal::Logs, Signal::Metrics, Signal::Traces] {
                // Whatever comes out: it ends, and it does not panic.
                let once = decode(signal, &bytes);
                prop_assert_eq!(decode(signal, &bytes), once);
            }
        }

        #[test]
        fn numbers_read_back(number in any::<u64>()) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, number);
            let mut rest = &bytes[..];
            prop_assert_eq!(varint(&mut rest), Ok(number));
            prop_assert!(rest.is_empty());
        }
    }
}
