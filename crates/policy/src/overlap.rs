//! Checks whether two patterns have a path in common: the one that a shell would expand, and the one of a rule.
//!
//! Both are walked through at once, so that the cost is the product of their lengths and never more.

use agent_tracer_privacy::pattern::Token;

/// One place of a shell pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Character(char),
    /// One character that is no slash.
    One,
    /// One that is no slash and no dot: a shell does not let a wildcard stand for the dot of a hidden name.
    FirstOne,
    /// Any part of a name.
    Within,
    /// Nothing, or a first character that is no dot; then the rest of the name follows.
    FirstWithin,
    /// Anything.
    Across,
}

/// Returns whether a path that the shell pattern expands to matches the tokens or lies below what they match. With `below`,
/// everything below those paths counts as well.
pub(crate) fn overlaps(pattern: &str, below: bool, tokens: &[Token<char>]) -> bool {
    let pieces = pieces(pattern);
    let deeper: Vec<Piece> = pieces.iter().copied().chain([Piece::Character('/'), Piece::Across]).collect();
    let covered: Vec<Token<char>> =
        tokens.iter().copied().chain([Token::Symbol('/'), Token::Across]).collect();
    share_a_text(&pieces, tokens)
        || share_a_text(&pieces, &covered)
        || (below && share_a_text(&deeper, tokens))
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut characters = pattern.chars().peekable();
    let mut at_start = true;
    while let Some(character) = characters.next() {
        let starts = std::mem::replace(&mut at_start, character == '/');
        match character {
            '*' if characters.peek() == Some(&'*') => {
                while characters.next_if_eq(&'*').is_some() {}
                pieces.push(Piece::Across);
            }
            '*' if starts => pieces.extend([Piece::FirstWithin, Piece::Within]),
            '*' => pieces.push(Piece::Within),
            '?' if starts => pieces.push(Piece::FirstOne),
            '?' => pieces.push(Piece::One),
            '[' => {
                // Which characters it holds is not looked at: it may be any.
                let mut rest = characters.clone();
                rest.next();
                if rest.any(|it| it == ']') {
                    characters.next();
                    while characters.next().is_some_and(|it| it != ']') {}
                    pieces.push(Piece::One);
                } else {
                    pieces.push(Piece::Character('['));
                }
            }
            other => pieces.push(Piece::Character(other)),
        }
    }
    pieces
}

/// Returns whether some text matches both.
fn share_a_text(pieces: &[Piece], tokens: &[Token<char>]) -> bool {
    let width = tokens.len() + 1;
    // Twice each pair: once where both were just entered, and once where a `**` has already stood for something.
    // Each pair of places is looked at once, so that a pattern such as `*a*a*a*a` cannot make the answer take
    // exponential time while a hook waits.
    let mut seen = vec![false; (pieces.len() + 1) * width * 2];
    let mut open = vec![(0_usize, 0_usize, true)];
    while let Some((piece, token, fresh)) = open.pop() {
        if piece == pieces.len() && token == tokens.len() {
            return true;
        }
        let Some(known) = seen.get_mut((piece * width + token) * 2 + usize::from(fresh)) else { continue };
        if std::mem::replace(known, true) {
            continue;
        }
        let left = pieces.get(piece);
        let right = tokens.get(token);
        match left {
            Some(Piece::Within | Piece::Across) => open.push((piece + 1, token, fresh)),
            Some(Piece::FirstWithin) => open.push((piece + 2, token, fresh)),
            _ => {}
        }
        // `**/` of a shell pattern may stand for nothing.
        if fresh && left == Some(&Piece::Across) && pieces.get(piece + 1) == Some(&Piece::Character('/')) {
            open.push((piece + 2, token, fresh));
        }
        match right {
            Some(Token::Within) => open.push((piece, token + 1, fresh)),
            Some(Token::Across) => {
                open.push((piece, token + 1, fresh));
                let before = token.checked_sub(1).and_then(|before| tokens.get(before));
                let free = fresh && (token == 0 || before == Some(&Token::Symbol('/')));
                if free && tokens.get(token + 1) == Some(&Token::Symbol('/')) {
                    open.push((piece, token + 2, fresh));
                }
            }
            _ => {}
        }
        let (Some(left), Some(right)) = (left, right) else { continue };
        if !fits_both(*left, *right) {
            continue;
        }
        let next_piece = match left {
            Piece::Within | Piece::Across => piece,
            Piece::Character(_) | Piece::One | Piece::FirstOne | Piece::FirstWithin => piece + 1,
        };
        let next_token = match right {
            Token::Within | Token::Across => token,
            Token::Symbol(_) | Token::Any | Token::InName => token + 1,
        };
        // A place that is left and entered anew is fresh again; one that stays has stood for something.
        let stays = next_piece == piece || next_token == token;
        open.push((next_piece, next_token, !stays));
    }
    false
}

/// Returns whether one character fits both.
fn fits_both(piece: Piece, token: Token<char>) -> bool {
    match (piece, token) {
        (Piece::Character(left), Token::Symbol(right)) => left == right,
        (Piece::Character(left), Token::Any | Token::InName | Token::Within) => left != '/',
        (Piece::Character(_) | Piece::Across, Token::Across) => true,
        (Piece::Across, Token::Symbol(_) | Token::Any | Token::InName | Token::Within) => true,
        (Piece::FirstOne | Piece::FirstWithin, Token::Symbol(right)) => !matches!(right, '/' | '.'),
        (Piece::One | Piece::Within, Token::Symbol(right)) => right != '/',
        (
            Piece::One | Piece::Within | Piece::FirstOne | Piece::FirstWithin,
            Token::Any | Token::InName | Token::Within | Token::Across,
        ) => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::glob::{PathGlob, Roots};

    #[test]
    fn a_shell_pattern_meets_a_rule_where_one_path_fits_both() {
        let roots = Roots { project: Some("/p"), home: Some("/h") };
        for (rule, pattern, below, expected) in [
            (".env", "/p/.e*", false, true),
            (".env", "/p/.*", false, true),
            (".env", "/p/*", false, false),
            (".env", "/p/?env", false, false),
            (".env", "/p/[.]env", false, true),
            (".env", "/p/.en?", false, true),
            (".env", "/p/a*", false, false),
            (".env*", "/p/.e*", false, true),
            (".env", "/p/**/.env", false, true),
            (".env", "/p/**/.env", true, true),
            ("secrets/**", "/p/s*/key", false, true),
            ("secrets/**", "/p/src/*.rs", false, false),
            ("src/a.rs", "/p/src/*.rs", false, true),
            ("src/a.rs", "/p/s*", true, true),
            ("src/a.rs", "/p/s*", false, false),
            ("~/.ssh/**", "/h/.s*/id", false, true),
            ("/etc/**", "/e*/passwd", false, true),
            ("/etc/**", "/p/*", false, false),
            ("*.pem", "/p/*.p?m", false, true),
        ] {
            assert_eq!(
                PathGlob::new(rule).may_cover(pattern, below, roots),
                expected,
                "{rule} {pattern} {below}"
            );
        }
    }
}
