//! The word lists of masking, each one text of words between blanks: they are read more often than run.
//!
//! The compiler makes numbers of them and sorts them, so that a word is compared with a few of a list.

/// Converts a word of up to sixteen bytes to a number; `None` for a longer one.
#[inline]
fn number(word: &[u8]) -> Option<u128> {
    let mut bytes = [0u8; 16];
    bytes.get_mut(..word.len())?.copy_from_slice(word);
    Some(u128::from_le_bytes(bytes))
}

/// Returns `true` if `word` is in `list`.
pub(super) fn listed(list: &[u128], word: &[u8]) -> bool {
    number(word).is_some_and(|word| list.binary_search(&word).is_ok())
}

/// Returns `true` if `word` is in `list`, whose words are in lower case, in any letter case.
pub(super) fn listed_in_any_case(list: &[u128], word: &[u8]) -> bool {
    let Some(word) = number(word) else { return false };
    let mut bytes = word.to_le_bytes();
    bytes.make_ascii_lowercase();
    list.binary_search(&u128::from_le_bytes(bytes)).is_ok()
}

/// Returns `true` if `word` ends in a word of `list`.
pub(super) fn ends_in(list: &[u128], word: &[u8]) -> bool {
    let tail = word.get(word.len().saturating_sub(16)..).unwrap_or_default();
    let Some(number) = number(tail) else { return false };
    // The end of the word is brought to the end of the number, and so is each of the list.
    let raise = |number: u128| number << (number.leading_zeros() / 8 * 8);
    let word = raise(number);
    list.iter().any(|listed| {
        let spare = listed.leading_zeros() / 8 * 8;
        (word ^ raise(*listed)) >> spare == 0
    })
}

/// Counts the words of `text`.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn count(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut count, mut blank) = (0, 0, true);
    while at < bytes.len() {
        if blank && !bytes[at].is_ascii_whitespace() {
            count += 1;
        }
        blank = bytes[at].is_ascii_whitespace();
        at += 1;
    }
    count
}

/// Returns the words of `text` as numbers, in their order.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn numbers<const N: usize>(text: &str) -> [u128; N] {
    let bytes = text.as_bytes();
    let mut numbers = [0; N];
    let (mut at, mut filled, mut length) = (0, 0, 0);
    while at <= bytes.len() {
        if at == bytes.len() || bytes[at].is_ascii_whitespace() {
            filled += (length > 0) as usize;
            length = 0;
        } else {
            assert!(length < 16, "a listed word is too long");
            numbers[filled] |= (bytes[at] as u128) << (8 * length);
            length += 1;
        }
        at += 1;
    }
    let mut sorted = 1;
    while sorted < N {
        let mut place = sorted;
        while place > 0 && numbers[place - 1] > numbers[place] {
            (numbers[place - 1], numbers[place]) = (numbers[place], numbers[place - 1]);
            place -= 1;
        }
        sorted += 1;
    }
    numbers
}

macro_rules! words {
    ($(#[$about:meta])* $name:ident = $text:literal) => {
        $(#[$about])*
        pub(super) static $name: &[u128] = &numbers::<{ count($text) }>($text);
    };
}

words! {
    /// Endings that name a key: the value may also be the path of a file that holds it.
    KEY_ENDINGS = "
        apikey accesskey secretkey privatekey accountkey sharedkey signingkey signaturekey encryptionkey
        decryptionkey masterkey authkey servicekey adminkey deploykey licensekey
        storagekey subscriptionkey functionkey hostkey rootkey appkey applicationkey consumerkey
        integrationkey strumentationkey ingestkey writekey sshkey jwtkey hmackey aeskey
    "
}

words! {
    /// Words that go on with a sentence behind the name of an option.
    PROSE = "a an the via for is are on or and to in from with as of option options flag argument instead must should when if that"
}

words! {
    /// Words that end in `pass` and name no password.
    PASSES = "
        bypass compass surpass trespass encompass overpass underpass fastpass multipass onepass singlepass renderpass
        subpass highpass lowpass bandpass allpass testpass monopass firstpass secondpass prepass postpass
    "
}

words! {
    /// Words before `token` that make it something else than a credential.
    TOKEN_OF_A_TEXT = "
        next prev previous current cur last first per eos bos pad unk mask sep cls peek lex each end start
        stop special max min num this unexpected expected invalid sync page continuation parse syntax
    "
}

words! {
    /// Words before `key` that make it something else than a credential.
    KEY_OF_A_TABLE = "
        public primary foreign sort cache partition object row hot map dict group index query unique
        composite idempotency translation route item react default short arrow hash range registry json
        state config setting message label event metric feature flag lookup natural dedupe subtype host
        known
    "
}

words! {
    /// Words after a stem that make the whole name harmless.
    HARMLESS_SUFFIXES = "
        url uri file path dir type count counts name names id ids expiry expires expiration ttl limit length
        size policy field header env var stdin usage version arn label store manager provider endpoint index
        kind
    "
}

words! {
    /// Words in the place of a secret that are none.
    PLACEHOLDERS = "
        any auto bool boolean bytes change-me change_me changeit changeme disabled empty enabled example
        expired false fixme hidden include incorrect int lambda: integer invalid masked missing nil no none null
        number object off omit on optional placeholder prompt redacted removed required same-origin
        secretstr secretstring str string tbd text todo true undefined unknown unset valid varchar
        void wrong yes u8 u32 u64 i32 i64 f64 usize option vec secretbox uuid
    "
}

words! {
    /// First words of a path of names that is read from somewhere else.
    ROOTS = "
        self this process os env config cfg settings options opts args params props secrets vars var local
        data module each ctx context req request res response event state user credentials input inputs
        github steps values conf app import window Deno Bun ENV System Rails random_password aws auth
        session client account db database
    "
}

words! {
    /// Last words that only distinguish secrets of the same kind.
    VARIANTS = "
        prod production dev development stage staging test testing local live old new base primary secondary
        main backup
    "
}

words! {
    /// Last words of names whose values look random and are no secrets.
    NO_SECRETS = "
        id ids uuid guid hash hashes sha sha1 sha256 sha512 md5 digest checksum integrity etag fingerprint commit
        rev revision ref cursor nonce trace span session thread model name path file filename dir url uri href
        src image img icon data content body html text payload blob base64 version slug class branch tag title
        h1 zh go sha384 sri narhash outputhash vendorhash cargohash npmdepshash blake2b blake3 sum cksum crc32 crc32c oid digests
        label selector alphabet charset chars pattern regex public pubkey query etags after before page
    "
}

words! {
    /// The beginnings of ids, up to their first sign.
    ID_PREFIXES = "
        toolu srvtoolu call msg req resp rs fc run thread asst file step evt event sess session conv chatcmpl exec
        item batch job task org user proj cus sub pi in ch price prod seti pm acct pk vs ws cntr container
        txn ii il si src card ba ca tr po plan cs inv we rp prv link mandate sha sha1 sha256 sha384 sha512 chunk index
        main vendor assets page layout build node npc urn uid uuid arn i vol subnet vpc sg ami eni rtb igw nat snap
        hash md5 blake3 sri img video doc docs prt ses per prj dpl team usr wf act res att obj rec col ver rel pr sp tx
    "
}
