//! The effects of SQL. This is not a parser: strings, comments and quoted names are skipped, and the first word of each
//! statement decides.

use crate::effect::Effects;

/// Returns the effects of a text of SQL; unknown if no statement is recognised.
pub(crate) fn effects(sql: &str) -> Effects {
    let mut effects = Effects::NONE;
    for statement in statements(sql) {
        effects = effects.and(statement_effects(&statement));
    }
    if effects.is_empty() { Effects::UNKNOWN } else { effects }
}

/// Splits at `;`, as upper-case words with everything else left out.
fn statements(sql: &str) -> Vec<Vec<String>> {
    let mut statements = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut characters = sql.chars().peekable();
    let end_word = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(std::mem::take(word).to_ascii_uppercase());
        }
    };
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' | '`' => {
                end_word(&mut word, &mut words);
                for inner in characters.by_ref() {
                    if inner == character {
                        break;
                    }
                }
            }
            '-' if characters.peek() == Some(&'-') => {
                end_word(&mut word, &mut words);
                for inner in characters.by_ref() {
                    if inner == '\n' {
                        break;
                    }
                }
            }
            '/' if characters.peek() == Some(&'*') => {
                end_word(&mut word, &mut words);
                let mut last = ' ';
                for inner in characters.by_ref() {
                    if last == '*' && inner == '/' {
                        break;
                    }
                    last = inner;
                }
            }
            ';' => {
                end_word(&mut word, &mut words);
                statements.push(std::mem::take(&mut words));
            }
            _ if character.is_alphanumeric() || matches!(character, '_' | '\\' | '.') => word.push(character),
            _ => end_word(&mut word, &mut words),
        }
    }
    end_word(&mut word, &mut words);
    statements.push(words);
    statements.retain(|words| !words.is_empty());
    statements
}

fn statement_effects(words: &[String]) -> Effects {
    let has = |word: &str| words.iter().any(|known| known == word);
    let first = words.first().map(String::as_str).unwrap_or_default();
    match first {
        "SELECT" if has("INTO") => Effects::WRITE,
        "SELECT" | "SHOW" | "DESCRIBE" | "DESC" | "VALUES" | "TABLE" | "USE" => Effects::READ,
        "PRAGMA" => Effects::READ,
        // A plan changes nothing unless the statement is really run for it.
        "EXPLAIN" if has("ANALYZE") => {
            let rest = words.iter().skip(1).filter(|word| *word != "ANALYZE").cloned().collect::<Vec<_>>();
            statement_effects(&rest).and(Effects::READ)
        }
        "EXPLAIN" => Effects::READ,
        "WITH" if has("DELETE") => Effects::DESTROY,
        "WITH" if has("INSERT") || has("UPDATE") || has("MERGE") => Effects::WRITE,
        "WITH" => Effects::READ,
        "DROP" | "TRUNCATE" | "DELETE" | "FLUSHALL" | "FLUSHDB" => Effects::DESTROY,
        "ALTER" if has("DROP") => Effects::DESTROY,
        "UPDATE" if !has("WHERE") => Effects::DESTROY,
        "INSERT" | "UPDATE" | "REPLACE" | "MERGE" | "UPSERT" | "CREATE" | "ALTER" | "GRANT" | "REVOKE"
        | "COPY" | "VACUUM" | "ANALYZE" | "REINDEX" | "COMMENT" | "REFRESH" | "SET" | "CALL" | "DO"
        | "LOAD" | "RENAME" | "ATTACH" | "IMPORT" => Effects::WRITE,
        "BEGIN" | "COMMIT" | "ROLLBACK" | "START" | "END" | "SAVEPOINT" | "RELEASE" => Effects::READ,
        // psql's and sqlite's own commands look around, except those that read or write files.
        "\\I" | "\\COPY" | ".READ" | ".IMPORT" | ".RESTORE" | ".OUTPUT" | ".BACKUP" | ".SAVE" | ".DUMP" => {
            if first == ".DUMP" {
                Effects::READ
            } else {
                Effects::WRITE
            }
        }
        _ if first.starts_with('\\') || first.starts_with('.') => Effects::READ,
        _ => Effects::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Effect;

    #[test]
    fn the_gravest_statement_counts() {
        for (sql, effect) in [
            ("SELECT 1", Effect::ReadOnly),
            ("select * from t where name = 'drop table x'", Effect::ReadOnly),
            ("-- drop table x\nselect 1", Effect::ReadOnly),
            ("/* drop */ select 1;", Effect::ReadOnly),
            ("\\dt", Effect::ReadOnly),
            (".tables", Effect::ReadOnly),
            ("insert into t values (1)", Effect::Write),
            ("update t set a = 1 where b = 2", Effect::Write),
            ("update t set a = 1", Effect::Destructive),
            ("select 1; DROP TABLE users;", Effect::Destructive),
            ("delete from t where id = 3", Effect::Destructive),
            ("alter table t add column c int", Effect::Write),
            ("alter table t drop column c", Effect::Destructive),
            ("with x as (select 1) select * from x", Effect::ReadOnly),
            ("with x as (select 1) delete from t", Effect::Destructive),
            ("explain analyze delete from t", Effect::Destructive),
            ("explain delete from t", Effect::ReadOnly),
            ("", Effect::Unknown),
            ("'unfinished", Effect::Unknown),
            ("frobnicate", Effect::Unknown),
        ] {
            assert_eq!(effects(sql).gravest(), effect, "{sql}");
        }
    }
}
