//! Whole numbers as decimal text, by hand.
//!
//! The formatting machinery of the standard library costs the hook some thousand instructions per
//! envelope; these two functions cost a few dozen per number.

/// Pairs of digits in the largest `u64`.
const PAIRS: usize = 10;

/// Two digits at a time halve the divisions.
static TWO_DIGITS: [[u8; 2]; 100] = {
    let mut table = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        #[expect(clippy::indexing_slicing, reason = "checked by the compiler that evaluates it")]
        {
            table[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        }
        number += 1;
    }
    table
};

fn last_two_digits(number: u64) -> [u8; 2] {
    TWO_DIGITS.get((number % 100) as usize).copied().unwrap_or_default()
}

/// Appends the number without leading zeros.
pub(crate) fn push(out: &mut Vec<u8>, mut number: u64) {
    let mut pairs = [[b'0'; 2]; PAIRS];
    let mut unused = 2 * PAIRS;
    for pair in pairs.iter_mut().rev() {
        *pair = last_two_digits(number);
        unused -= if number < 10 { 1 } else { 2 };
        number /= 100;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(pairs.as_flattened().get(unused..).unwrap_or_default());
}

/// Appends the number as exactly twenty digits, so that names sort by time.
pub(crate) fn push_padded(out: &mut Vec<u8>, mut number: u64) {
    let mut pairs = [[b'0'; 2]; PAIRS];
    for pair in pairs.iter_mut().rev() {
        *pair = last_two_digits(number);
        number /= 100;
    }
    out.extend_from_slice(pairs.as_flattened());
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
