//! The shapes of providers' keys: a prefix, and the characters and the length of the body after it.
//!
//! Most come from a public set of rules ([`super::rules`]); those here are our own, where the set has none or a narrower
//! one. A prefix that is also a word of programs is not enough: `sk-` begins `sk-learn-pipeline-v2`, so its body must
//! look drawn at random.

use super::{part, rules, values};

/// The characters after the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// Hexadecimal digits, lower case.
    Hex,
    /// Small letters and digits.
    Lower,
    /// Capital letters and digits.
    Upper,
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `_` and `-`.
    Word,
    /// The same in parts that are joined by dots, filled up with `=`.
    Dotted,
    /// Base64 in both alphabets, also where its signs are spelled with `%`.
    Base64,
    /// All that and `~`, `:`, `,` and `!`.
    Wide,
    /// The same as [`Body::Dotted`], with a dot in it.
    Jwt,
}

/// For each byte the classes that it belongs to, one bit for each.
static CLASSES: [u8; 256] = class_bits();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn class_bits() -> [u8; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        let alnum = byte.is_ascii_alphanumeric();
        let word = alnum || matches!(byte, b'_' | b'-');
        let members = [
            matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            matches!(byte, b'0'..=b'9' | b'a'..=b'z'),
            matches!(byte, b'0'..=b'9' | b'A'..=b'Z'),
            alnum,
            word,
            word || matches!(byte, b'.' | b'='),
            word || matches!(byte, b'+' | b'/' | b'=' | b'%'),
            word || matches!(byte, b'+' | b'/' | b'=' | b'%' | b'.' | b'~' | b':' | b',' | b'!'),
        ];
        let mut bit = 0;
        while bit < 8 {
            table[at] |= (members[bit] as u8) << bit;
            bit += 1;
        }
        at += 1;
    }
    table
}

impl Body {
    /// Counts the bytes at the start of `text` that belong to the class, up to `most`.
    #[inline]
    pub(super) fn count(self, text: &[u8], most: usize) -> usize {
        let bit = match self {
            Self::Jwt => 1 << Self::Dotted as u8,
            other => 1u8 << other as u8,
        };
        let belongs = |byte: &&u8| CLASSES.get(**byte as usize).is_some_and(|classes| classes & bit != 0);
        text.iter().take(most).take_while(belongs).count()
    }
}

/// Longest body that is masked; a longer one is data.
const MOST_BODY: u16 = 4096;

/// The shape of a provider's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    prefix: &'static [u8],
    kind: &'static str,
    body: Body,
    /// Least length of the body.
    least: u16,
    /// Longest length of the body.
    most: u16,
    /// True if the prefix alone is not enough, so that the body must look random.
    weak: bool,
    /// True if it is one of ours, which are tried first.
    own: bool,
}

const fn shape(prefix: &'static [u8], kind: &'static str, body: Body, least: u16) -> Shape {
    Shape { prefix, kind, body, least, most: MOST_BODY, weak: false, own: true }
}

const fn weak(prefix: &'static [u8], kind: &'static str, body: Body, least: u16) -> Shape {
    Shape { prefix, kind, body, least, most: MOST_BODY, weak: true, own: true }
}

const fn exact(prefix: &'static [u8], kind: &'static str, body: Body, length: u16) -> Shape {
    Shape { prefix, kind, body, least: length, most: length, weak: false, own: true }
}

/// The shape of a vendor's keys without a prefix, which are known by the vendor's name before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Vendor {
    pub(super) name: &'static [u8],
    pub(super) kind: &'static str,
    pub(super) body: Body,
    pub(super) least: u16,
    pub(super) most: u16,
}

impl Shape {
    pub(super) const fn rule(
        prefix: &'static [u8],
        kind: &'static str,
        body: Body,
        least: u16,
        weak: bool,
    ) -> Self {
        Self { prefix, kind, body, least, most: MOST_BODY, weak, own: false }
    }
}

impl Vendor {
    pub(super) const fn rule(
        name: &'static [u8],
        kind: &'static str,
        body: Body,
        least: u16,
        most: u16,
    ) -> Self {
        Self { name, kind, body, least, most }
    }
}

/// Our own shapes.
const OWN: &[Shape] = &[
    exact(b"ABIA", "aws-key", Body::Upper, 16),
    shape(b"ABSK", "aws-key", Body::Base64, 60),
    exact(b"ACCA", "aws-key", Body::Upper, 16),
    shape(b"AGE-SECRET-KEY-1", "age-key", Body::Upper, 20),
    exact(b"AKIA", "aws-key", Body::Upper, 16),
    exact(b"ASIA", "aws-key", Body::Upper, 16),
    shape(b"AIza", "google-key", Body::Word, 30),
    shape(b"ATATT3", "atlassian-token", Body::Dotted, 24),
    shape(b"ATBB", "atlassian-token", Body::Alnum, 24),
    shape(b"ATCTT3", "atlassian-token", Body::Dotted, 24),
    shape(b"CCIPAT_", "circleci-token", Body::Word, 20),
    shape(b"CLOJARS_", "clojars-token", Body::Alnum, 32),
    shape(b"EAAAE", "square-token", Body::Word, 50),
    weak(b"EAA", "facebook-token", Body::Word, 60),
    weak(b"EZAK", "easypost-key", Body::Word, 40),
    weak(b"EZTK", "easypost-key", Body::Word, 40),
    shape(b"FLWSECK", "flutterwave-key", Body::Word, 20),
    shape(b"GOCSPX-", "google-key", Body::Word, 20),
    shape(b"GR1348941", "gitlab-token", Body::Word, 16),
    shape(b"HRKU-", "heroku-key", Body::Word, 30),
    exact(b"LTAI", "alibaba-key", Body::Alnum, 20),
    shape(b"NRAK-", "newrelic-key", Body::Upper, 20),
    shape(b"PMAK-", "postman-key", Body::Word, 30),
    exact(b"SK", "twilio-key", Body::Hex, 32),
    shape(b"apify_api_", "apify-token", Body::Alnum, 30),
    shape(b"bkua_", "buildkite-token", Body::Alnum, 30),
    weak(b"csk-", "cerebras-key", Body::Word, 40),
    exact(b"dapi", "databricks-token", Body::Hex, 32),
    shape(b"dckr_pat_", "docker-token", Body::Word, 20),
    shape(b"dckr_oat_", "docker-token", Body::Word, 20),
    shape(b"doo_v1_", "digitalocean-token", Body::Hex, 40),
    shape(b"dop_v1_", "digitalocean-token", Body::Hex, 40),
    shape(b"dor_v1_", "digitalocean-token", Body::Hex, 40),
    shape(b"e2b_", "e2b-key", Body::Hex, 40),
    shape(b"eyJ", "jwt", Body::Jwt, 16),
    shape(b"figd_", "figma-token", Body::Word, 30),
    shape(b"figo_", "figma-token", Body::Word, 30),
    shape(b"fo1_", "fly-token", Body::Base64, 30),
    shape(b"fm2_", "fly-token", Body::Base64, 30),
    weak(b"fw_", "fireworks-key", Body::Word, 20),
    shape(b"github_pat_", "github-token", Body::Word, 20),
    shape(b"gho_", "github-token", Body::Alnum, 20),
    shape(b"ghp_", "github-token", Body::Alnum, 20),
    shape(b"ghr_", "github-token", Body::Alnum, 20),
    shape(b"ghs_", "github-token", Body::Alnum, 20),
    shape(b"ghu_", "github-token", Body::Alnum, 20),
    shape(b"gldt-", "gitlab-token", Body::Word, 16),
    shape(b"gloas-", "gitlab-token", Body::Word, 16),
    shape(b"glsoat-", "gitlab-token", Body::Word, 16),
    shape(b"glimt-", "gitlab-token", Body::Word, 16),
    shape(b"glagent-", "gitlab-token", Body::Word, 16),
    shape(b"glft-", "gitlab-token", Body::Word, 16),
    shape(b"glffct-", "gitlab-token", Body::Word, 16),
    shape(b"glcbt-", "gitlab-token", Body::Word, 16),
    shape(b"glptt-", "gitlab-token", Body::Word, 16),
    shape(b"glpat-", "gitlab-token", Body::Dotted, 16),
    shape(b"glrt-", "gitlab-token", Body::Dotted, 16),
    shape(b"glsa_", "grafana-token", Body::Word, 20),
    shape(b"glc_", "grafana-token", Body::Base64, 30),
    weak(b"gsk_", "groq-key", Body::Word, 30),
    shape(b"hf_", "huggingface-token", Body::Alnum, 28),
    shape(b"jina_", "jina-key", Body::Alnum, 40),
    shape(b"lin_api_", "linear-key", Body::Alnum, 20),
    shape(b"lin_oauth_", "linear-key", Body::Alnum, 20),
    shape(b"lsv2_pt_", "langsmith-key", Body::Word, 20),
    shape(b"lsv2_sk_", "langsmith-key", Body::Word, 20),
    shape(b"nfp_", "netlify-token", Body::Alnum, 30),
    shape(b"npm_", "npm-token", Body::Alnum, 30),
    shape(b"ntn_", "notion-token", Body::Alnum, 30),
    shape(b"nvapi-", "nvidia-key", Body::Word, 30),
    shape(b"ops_eyJ", "onepassword-token", Body::Base64, 40),
    shape(b"pat-na1-", "hubspot-token", Body::Word, 30),
    shape(b"pat-eu1-", "hubspot-token", Body::Word, 30),
    shape(b"phx_", "posthog-key", Body::Alnum, 30),
    shape(b"pnu_", "prefect-token", Body::Alnum, 30),
    shape(b"pplx-", "perplexity-key", Body::Alnum, 30),
    shape(b"pscale_tkn_", "planetscale-token", Body::Word, 20),
    shape(b"pscale_pw_", "planetscale-token", Body::Word, 20),
    shape(b"pscale_oauth_", "planetscale-token", Body::Word, 20),
    shape(b"pul-", "pulumi-token", Body::Hex, 40),
    shape(b"pypi-AgE", "pypi-token", Body::Word, 20),
    shape(b"r8_", "replicate-token", Body::Alnum, 30),
    shape(b"rdme_", "readme-key", Body::Alnum, 60),
    weak(b"rnd_", "render-key", Body::Word, 24),
    weak(b"re_", "resend-key", Body::Word, 24),
    shape(b"rk_live_", "stripe-key", Body::Alnum, 16),
    shape(b"rk_test_", "stripe-key", Body::Alnum, 16),
    shape(b"rubygems_", "rubygems-key", Body::Hex, 40),
    shape(b"sbp_", "supabase-token", Body::Hex, 40),
    shape(b"sb_secret_", "supabase-token", Body::Word, 20),
    shape(b"sgp_", "sourcegraph-token", Body::Hex, 40),
    shape(b"shippo_live_", "shippo-token", Body::Hex, 30),
    shape(b"shippo_test_", "shippo-token", Body::Hex, 30),
    weak(b"secret_", "notion-token", Body::Word, 40),
    shape(b"shpat_", "shopify-token", Body::Hex, 30),
    shape(b"shpss_", "shopify-token", Body::Hex, 30),
    shape(b"shppa_", "shopify-token", Body::Hex, 30),
    shape(b"shpca_", "shopify-token", Body::Hex, 30),
    shape(b"sk-ant-", "anthropic-key", Body::Word, 16),
    shape(b"sk-proj-", "openai-key", Body::Word, 16),
    shape(b"sk-svcacct-", "openai-key", Body::Word, 16),
    shape(b"sk-admin-", "openai-key", Body::Word, 16),
    shape(b"sk-or-v1-", "openrouter-key", Body::Word, 16),
    weak(b"sk-or-", "openrouter-key", Body::Word, 17),
    shape(b"sk-lf-", "langfuse-key", Body::Word, 16),
    weak(b"sk-", "openai-key", Body::Word, 17),
    shape(b"sk_live_", "stripe-key", Body::Alnum, 16),
    shape(b"sk_test_", "stripe-key", Body::Alnum, 16),
    weak(b"sk_", "api-key", Body::Word, 32),
    shape(b"sntrys_", "sentry-token", Body::Base64, 30),
    shape(b"sntryu_", "sentry-token", Body::Word, 30),
    shape(b"sq0atp-", "square-token", Body::Word, 20),
    shape(b"sq0csp-", "square-token", Body::Word, 30),
    shape(b"tgp_v1_", "together-key", Body::Word, 30),
    shape(b"tskey-", "tailscale-key", Body::Word, 16),
    weak(b"tvly-", "tavily-key", Body::Word, 20),
    shape(b"whsec_", "webhook-secret", Body::Alnum, 20),
    weak(b"xai-", "xai-key", Body::Word, 30),
    shape(b"xapp-", "slack-token", Body::Word, 16),
    shape(b"xkeysib-", "brevo-key", Body::Word, 40),
    shape(b"xsmtpsib-", "brevo-key", Body::Word, 40),
    shape(b"xoxa-", "slack-token", Body::Word, 15),
    shape(b"xoxb-", "slack-token", Body::Word, 15),
    shape(b"xoxc-", "slack-token", Body::Word, 15),
    shape(b"xoxd-", "slack-token", Body::Base64, 15),
    shape(b"xoxe-", "slack-token", Body::Word, 15),
    shape(b"xoxo-", "slack-token", Body::Word, 15),
    shape(b"xoxp-", "slack-token", Body::Word, 15),
    shape(b"xoxr-", "slack-token", Body::Word, 15),
    shape(b"xoxs-", "slack-token", Body::Word, 15),
    shape(b"fm1r_", "fly-token", Body::Base64, 30),
    shape(b"fm1a_", "fly-token", Body::Base64, 30),
    shape(b"SG.", "sendgrid-key", Body::Dotted, 20),
    shape(b"ya29.", "google-token", Body::Dotted, 20),
    shape(b"hvs.", "vault-token", Body::Dotted, 20),
    shape(b"hvb.", "vault-token", Body::Dotted, 20),
    shape(b"hvr.", "vault-token", Body::Dotted, 20),
    shape(b"dp.pt.", "doppler-token", Body::Dotted, 20),
    shape(b"dp.st.", "doppler-token", Body::Dotted, 20),
    shape(b"dp.ct.", "doppler-token", Body::Dotted, 20),
    shape(b"dp.sa.", "doppler-token", Body::Dotted, 20),
    shape(b"dp.scim.", "doppler-token", Body::Dotted, 20),
    shape(b"dp.audit.", "doppler-token", Body::Dotted, 20),
    shape(b"xoxe.", "slack-token", Body::Dotted, 20),
    weak(b"sl.", "dropbox-token", Body::Dotted, 20),
    shape(b"dt0c01.", "dynatrace-token", Body::Dotted, 20),
    shape(b"dt0s16.", "dynatrace-token", Body::Dotted, 20),
    shape(b"glpat.", "gitlab-token", Body::Dotted, 20),
    shape(b"sqa_", "sonar-token", Body::Hex, 30),
    shape(b"sqp_", "sonar-token", Body::Hex, 30),
    shape(b"squ_", "sonar-token", Body::Hex, 30),
    weak(b"key-", "mailgun-key", Body::Hex, 32),
    shape(b"CFPAT-", "contentful-token", Body::Word, 30),
    weak(b"sess-", "openai-key", Body::Alnum, 30),
    exact(b"oy2", "nuget-key", Body::Lower, 43),
    shape(b"AstraCS:", "astra-token", Body::Wide, 40),
    weak(b"db-", "databento-key", Body::Alnum, 29),
    weak(b"cio", "crates-io-token", Body::Alnum, 32),
    weak(b"KEY", "telnyx-key", Body::Word, 55),
    shape(b"sm_pat_", "settlemint-token", Body::Alnum, 16),
    shape(b"sm_sat_", "settlemint-token", Body::Alnum, 16),
    shape(b"waka_", "wakatime-key", Body::Word, 36),
    shape(b"nrf_", "neon-key", Body::Alnum, 30),
    shape(b"AAAAAAAAAAAAAAAAAAAAA", "twitter-token", Body::Base64, 50),
    shape(b"rzp_live_", "razorpay-key", Body::Alnum, 12),
    shape(b"rzp_test_", "razorpay-key", Body::Alnum, 12),
    shape(b"sk_prod_", "stripe-key", Body::Alnum, 16),
    shape(b"rk_prod_", "stripe-key", Body::Alnum, 16),
    shape(b"dvc_server_", "devcycle-key", Body::Word, 16),
    shape(b"NRIQ-", "newrelic-key", Body::Word, 20),
    shape(b"NRRA-", "newrelic-key", Body::Word, 20),
    weak(b"pat-", "hubspot-token", Body::Word, 36),
    weak(b"s.", "vault-token", Body::Alnum, 24),
    weak(b"pk.eyJ", "mapbox-token", Body::Dotted, 30),
    weak(b"sk.eyJ", "mapbox-token", Body::Dotted, 30),
    shape(b"ZXlK", "jwt", Body::Base64, 40),
];

const COUNT: usize = OWN.len() + rules::SHAPES.len();

/// All shapes: by the key of their first two bytes, of those our own before the rules', then the longer prefix first.
static SHAPES: [Shape; COUNT] = sorted();

/// Returns a number for the first two bytes of a prefix. Letters of both cases share one: the comparison of the whole
/// prefix decides.
#[inline(always)]
const fn pair_key(first: u8, second: u8) -> usize {
    ((first & 31) as usize) << 5 | (second & 31) as usize
}

/// Returns `true` if `one` stands before `other`.
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn is_before(one: &Shape, other: &Shape) -> bool {
    let (prefix, other_prefix) = (one.prefix, other.prefix);
    let (key, other_key) = (pair_key(prefix[0], prefix[1]), pair_key(other_prefix[0], other_prefix[1]));
    if key != other_key || one.own != other.own {
        return key < other_key || (key == other_key && one.own);
    }
    prefix.len() > other_prefix.len()
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn sorted() -> [Shape; COUNT] {
    let mut all = [OWN[0]; COUNT];
    let mut filled = 0;
    while filled < COUNT {
        let next = if filled < OWN.len() { OWN[filled] } else { rules::SHAPES[filled - OWN.len()] };
        let mut place = filled;
        while place > 0 && is_before(&next, &all[place - 1]) {
            all[place] = all[place - 1];
            place -= 1;
        }
        all[place] = next;
        filled += 1;
    }
    all
}

/// For each key the first of its shapes in [`SHAPES`], and their number.
static GROUPS: [(u16, u8); 1024] = groups();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn groups() -> [(u16, u8); 1024] {
    let mut table = [(0, 0); 1024];
    let mut at = 0;
    while at < COUNT {
        let prefix = SHAPES[at].prefix;
        let group = &mut table[pair_key(prefix[0], prefix[1])];
        if group.1 == 0 {
            group.0 = at as u16;
        }
        group.1 += 1;
        at += 1;
    }
    table
}

/// Returns the shapes that `text` may have by its first two bytes.
#[inline(always)]
fn candidates(text: &[u8]) -> &'static [Shape] {
    let [first, second, ..] = text else { return &[] };
    match GROUPS.get(pair_key(*first, *second)) {
        Some((from, count)) if *count > 0 => {
            SHAPES.get(*from as usize..*from as usize + *count as usize).unwrap_or_default()
        }
        _ => &[],
    }
}

/// Returns `true` if `text` begins like a key.
#[inline(always)]
pub(super) fn suspect(text: &[u8]) -> bool {
    candidates(text).iter().any(|shape| text.starts_with(shape.prefix))
}

/// Returns the length and kind of the key at the start of `text`.
#[inline(always)]
pub(super) fn matches(text: &[u8]) -> Option<(usize, &'static str)> {
    let shapes = candidates(text);
    if shapes.is_empty() { None } else { first_match(shapes, text) }
}

#[inline(never)]
fn first_match(shapes: &[Shape], text: &[u8]) -> Option<(usize, &'static str)> {
    shapes.iter().find_map(|shape| {
        let body = text.strip_prefix(shape.prefix)?;
        let length = shape.length(body)?;
        Some((shape.prefix.len() + length, shape.kind))
    })
}

impl Shape {
    /// Returns the length of the key's body at the start of `body`.
    fn length(&self, body: &[u8]) -> Option<usize> {
        let counted = self.body.count(body, usize::from(MOST_BODY));
        let mut length = counted;
        if matches!(self.body, Body::Dotted | Body::Base64 | Body::Wide | Body::Jwt) {
            length -= part(body, 0, counted).iter().rev().take_while(|byte| ends_token(**byte)).count();
        }
        let body = part(body, 0, length);
        let fits = (usize::from(self.least)..=usize::from(self.most)).contains(&length)
            && (!self.weak || is_drawn(body))
            && (self.body != Body::Jwt || has_parts(body));
        (fits && !is_placeholder(body)).then_some(length)
    }
}

/// Returns the length of the token at the start of `text`: all characters of any body, without the signs that end a
/// sentence.
pub(super) fn extent(text: &[u8]) -> usize {
    let length = Body::Wide.count(text, usize::from(MOST_BODY));
    length - part(text, 0, length).iter().rev().take_while(|byte| ends_token(**byte)).count()
}

/// Returns `true` if a byte at the end of a token belongs to the text around it: to a sentence, a folder or a pair.
fn ends_token(byte: u8) -> bool {
    matches!(byte, b'.' | b'/' | b',' | b':' | b'!' | b'%')
}

/// Returns `true` if one character repeats six times in `body`, as in `ghp_xxxxxxxx`; `A` does not count, because
/// numbers in Base64 are full of it.
fn is_placeholder(body: &[u8]) -> bool {
    let filler = |six: &[u8]| matches!(six, [first, rest @ ..] if *first != b'A' && rest.iter().all(|byte| byte == first));
    part(body, 0, 64).windows(6).any(filler)
}

/// Returns `true` if the kinds of characters change as they do in drawn keys. In capitals one digit is enough: words of
/// programs are spelled with `_` there.
fn is_drawn(body: &[u8]) -> bool {
    let digits = body.iter().any(u8::is_ascii_digit);
    (digits && !body.contains(&b'_') && !body.iter().any(u8::is_ascii_lowercase))
        || values::random_above(body, 8)
}

/// Returns `true` if a JSON web token has a second part.
fn has_parts(body: &[u8]) -> bool {
    body.iter().position(|byte| *byte == b'.').is_some_and(|dot| body.len() - dot >= 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders `rules.rs` from the lines of `rules.csv`, as the script does.
    fn rendered(csv: &str) -> String {
        let rows = |what: &'static str| {
            csv.lines().filter_map(move |line| {
                let row: Vec<&str> = line.split(',').collect();
                (row.first() == Some(&what)).then_some(row)
            })
        };
        let body = |name: &str| {
            let (first, rest) = name.split_at(1);
            format!("{}{rest}", first.to_uppercase())
        };
        let mut out = String::from(
            "//! The rules of `rules.csv` as tables for the search. Written by `scripts/refresh-shapes`, not by hand.\n\n\
             use super::shapes::{Body, Shape, Vendor};\n\n\
             /// Keys that are known by how they begin.\n#[rustfmt::skip]\n\
             pub(super) const SHAPES: &[Shape] = &[\n",
        );
        for row in rows("shape") {
            out += &format!(
                "    Shape::rule(b\"{}\", \"{}\", Body::{}, {}, {}),\n",
                row[1],
                row[2],
                body(row[3]),
                row[4],
                row[5] == "weak"
            );
        }
        out += "];\n\n/// Keys that are known by the vendor's name before them.\n#[rustfmt::skip]\n\
                pub(super) static VENDORS: &[Vendor] = &[\n";
        for row in rows("vendor") {
            out += &format!(
                "    Vendor::rule(b\"{}\", \"{}\", Body::{}, {}, {}),\n",
                row[1],
                row[2],
                body(row[3]),
                row[4],
                row[5]
            );
        }
        out + "];\n"
    }

    #[test]
    fn the_generated_table_matches_the_rules() {
        let csv = include_str!("rules.csv");
        assert_eq!(include_str!("rules.rs"), rendered(csv));
        assert!(csv.contains("kingfisher-rules 3.0.1") && csv.contains("MIT licence"), "the source is named");
        assert!(rules::SHAPES.len() >= 200 && rules::VENDORS.len() >= 100);
        let left_out: Vec<&str> = csv.lines().filter(|line| line.starts_with("left out,")).collect();
        assert!(!left_out.is_empty() && left_out.iter().all(|line| line.split(',').count() == 3));
    }

    #[test]
    fn every_prefix_is_found_through_its_group() {
        for shape in &SHAPES {
            assert!(candidates(shape.prefix).contains(shape), "{shape:?}");
            assert!(shape.prefix.len() >= 2 && shape.least <= shape.most, "{shape:?}");
            assert!(
                !shape.kind.is_empty()
                    && shape.kind.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
            );
        }
        assert!(rules::VENDORS.is_sorted_by_key(|vendor| vendor.name));
    }
}
