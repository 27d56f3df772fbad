//! The word lists of masking, each one text of words between blanks: they are read more often than run.

/// Whether `word` is in `list`.
pub(super) fn listed(list: &str, word: &[u8]) -> bool {
    list.split_ascii_whitespace().any(|listed| listed.as_bytes() == word)
}

/// Whether `word` is in `list`, in any letter case.
pub(super) fn listed_in_any_case(list: &str, word: &[u8]) -> bool {
    list.split_ascii_whitespace().any(|listed| listed.as_bytes().eq_ignore_ascii_case(word))
}

/// Whether `word` ends in a word of `list`.
pub(super) fn ends_in(list: &str, word: &[u8]) -> bool {
    list.split_ascii_whitespace().any(|listed| word.ends_with(listed.as_bytes()))
}

/// Endings that name a key: the value may also be the path of a file that holds it.
pub(super) const KEY_ENDINGS: &str = "
    apikey accesskey secretkey privatekey accountkey sharedkey signingkey signaturekey encryptionkey
    decryptionkey masterkey authkey servicekey serviceaccountkey adminkey deploykey licensekey
    storagekey subscriptionkey functionkey hostkey rootkey appkey applicationkey consumerkey
    integrationkey ingestkey writekey sshkey jwtkey hmackey aeskey
";

/// Words before `token` that make it something else than a credential.
pub(super) const TOKEN_OF_A_TEXT: &str = "
    next prev previous current cur last first per eos bos pad unk mask sep cls peek lex each end start
    stop special max min num this unexpected expected invalid sync page continuation parse syntax
";

/// Words before `key` that make it something else than a credential.
pub(super) const KEY_OF_A_TABLE: &str = "
    public primary foreign sort cache partition object row hot map dict group index query unique
    composite idempotency translation route item react default short arrow hash range registry json
    state config setting message label event metric feature flag lookup natural dedupe subtype host
    known
";

/// What follows a stem and makes the whole the name of something that is no secret.
pub(super) const HARMLESS_SUFFIXES: &str = "
    url uri file path dir type count counts name names id ids expiry expires expiration ttl limit length
    size policy field header env var stdin usage version arn label store manager provider endpoint index
    kind
";

/// Words that stand where a secret would, and are none.
pub(super) const PLACEHOLDERS: &str = "
    any auto bool boolean bytes change-me change_me changeit changeme disabled empty enabled example
    expired false fixme hidden include incorrect int lambda: integer invalid masked missing nil no none null
    number object off omit on optional placeholder prompt redacted removed required same-origin
    secretstr secretstring str string tbd text todo true undefined unknown unset valid varchar
    void wrong yes u8 u32 u64 i32 i64 f64 usize option vec secretbox uuid
";

/// First words of a path of names that is read from somewhere else.
pub(super) const ROOTS: &str = "
    self this process os env config cfg settings options opts args params props secrets vars var local
    data module each ctx context req request res response event state user credentials input inputs
    github steps values conf app import window Deno Bun ENV System Rails random_password aws auth
    session client account db database
";

/// Last words that only tell one secret from another of the same kind.
pub(super) const VARIANTS: &str = "
    prod production dev development stage staging test testing local live old new base primary secondary
    main backup
";
