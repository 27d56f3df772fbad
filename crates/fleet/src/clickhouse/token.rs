//! Tokens of people and machines: kept as hashes, replaced and revoked as every other row is.

use clickhouse::Row;
use serde::{Deserialize, Serialize};

use crate::clickhouse::fleet::{Fleet, FleetError};

/// Lists the rights of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenScope {
    /// Ship under the owner's name.
    Ingest,
    /// Ask questions and follow the stream.
    Read,
    /// Everything.
    Admin,
}

impl TokenScope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Ingest, Self::Read, Self::Admin];

    /// Returns the word of the scope.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Read => "read",
            Self::Admin => "admin",
        }
    }

    /// Parses the word of a scope.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Owner of the token.
    pub owner: String,
    /// The part of it that may be shown.
    pub id: String,
    /// Rights of the token.
    pub scope: TokenScope,
    /// The SHA-256 of the secret, as hexadecimal digits.
    pub hash: String,
    /// Time of creation.
    pub created: i64,
    /// Time of expiry.
    pub expires: Option<i64>,
}

#[derive(Row, Serialize, Deserialize)]
struct TokenLine {
    owner: String,
    id: String,
    version: u64,
    gone: u8,
    scope: String,
    hash: String,
    created: i64,
    expires: Option<i64>,
}

impl Fleet {
    /// Returns every token that was not revoked, by owner and id. A token with an unknown scope allows nothing and is
    /// left out.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn tokens(&self) -> Result<Vec<Token>, FleetError> {
        let ask = "SELECT owner, id, version, gone, toString(scope) AS scope, hash, created, expires \
                   FROM token FINAL ORDER BY owner, id";
        let lines: Vec<TokenLine> = self.wait(self.client().query(ask).fetch_all())?;
        let token = |line: TokenLine| {
            Some(Token {
                scope: TokenScope::parse(&line.scope)?,
                owner: line.owner,
                id: line.id,
                hash: line.hash,
                created: line.created,
                expires: line.expires,
            })
        };
        Ok(lines.into_iter().filter_map(token).collect())
    }

    /// Keeps a token as it is at this moment; one with the same owner and id is replaced.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn put_token(&self, token: &Token, at: i64) -> Result<(), FleetError> {
        self.write_token(token, at, false)
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn revoke_token(&self, token: &Token, at: i64) -> Result<(), FleetError> {
        self.write_token(token, at, true)
    }

    // A revoked token is a row with a greater version, and not a deletion: another server may be reading the table
    // just now.
    fn write_token(&self, token: &Token, at: i64, is_gone: bool) -> Result<(), FleetError> {
        let line = TokenLine {
            owner: token.owner.clone(),
            id: token.id.clone(),
            version: u64::try_from(at).unwrap_or(0),
            gone: u8::from(is_gone),
            scope: token.scope.as_str().to_owned(),
            hash: token.hash.clone(),
            created: token.created,
            expires: token.expires,
        };
        let client = self.client();
        self.wait(async {
            let mut insert = client.insert::<TokenLine>("token").await?;
            insert.write(&line).await?;
            insert.end().await
        })
    }
}
