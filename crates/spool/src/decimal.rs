//! Whole numbers as decimal text, by hand.
//!
//! The formatting machinery of the standard library costs the hook some thousand instructions per
//! envelope; these two functions cost a few dozen per number.

/// The digits of the largest `u64`.
const WIDTH: usize = 20;

/// Appends the number without leading zeros.
pub(crate) fn push(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; WIDTH];
    let mut unused = WIDTH;
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + (number % 10) as u8;
        number /= 10;
        unused -= 1;
        if number == 0 {
            break;
        }
    }
    if let Some(text) = digits.get(unused..) {
        out.extend_from_slice(text);
    }
}

/// Appends the number as exactly twenty digits, so that names sort by time.
pub(crate) fn push_padded(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; WIDTH];
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits);
}

/// Reads a number written in digits only: no sign, no space, nothing over `u64`.
pub(crate) fn read(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were_written() {
        for number in [0, 1, 9, 10, 99, 100, 4_294_967_296, u64::MAX - 1, u64::MAX] {
            let mut plain = Vec::new();
            push(&mut plain, number);
            assert_eq!(plain, number.to_string().into_bytes());
            assert_eq!(read(&plain), Some(number));
            let mut padded = Vec::new();
            push_padded(&mut padded, number);
            assert_eq!(padded, format!("{number:020}").into_bytes());
            assert_eq!(read(&padded), Some(number));
        }
    }

    #[test]
    fn anything_but_digits_in_range_is_no_number() {
        for text in ["", "-1", "+1", " 1", "1 ", "1a", "0x1", "18446744073709551616", "99999999999999999999"]
        {
            assert_eq!(read(text.as_bytes()), None, "{text:?}");
        }
    }
}
