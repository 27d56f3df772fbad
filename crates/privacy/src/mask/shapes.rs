//! The shapes of providers' keys: a prefix, what may follow, and how much of it there must be.
//!
//! A shape is listed only if its prefix is distinctive. `sk-` alone is not (`sk-learn-pipeline-v2`), so its
//! body must look drawn at random.

use super::runs::is_word;
use super::{part, values};

/// Which characters follow the prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Letters, digits, `_` and `-`.
    Word,
    /// The same, and it must look random.
    Random,
    /// Letters and digits.
    Alnum,
    /// Capital letters and digits.
    Upper,
    /// Hexadecimal digits, lower case.
    Hex,
    /// Word characters in parts that are joined by dots.
    Dotted,
}

struct Shape {
    prefix: &'static [u8],
    kind: &'static str,
    body: Body,
    /// Least length of the body.
    least: usize,
    /// Longest length of the body.
    most: usize,
}

const fn shape(prefix: &'static [u8], kind: &'static str, body: Body, least: usize) -> Shape {
    Shape { prefix, kind, body, least, most: usize::MAX }
}

const fn exact(prefix: &'static [u8], kind: &'static str, body: Body, length: usize) -> Shape {
    Shape { prefix, kind, body, least: length, most: length }
}

/// Sorted by first byte; more specific prefixes first.
static SHAPES: &[Shape] = &[
    exact(b"ABIA", "aws-key", Body::Upper, 16),
    shape(b"ABSK", "aws-key", Body::Random, 40),
    exact(b"ACCA", "aws-key", Body::Upper, 16),
    shape(b"AGE-SECRET-KEY-1", "age-key", Body::Upper, 20),
    exact(b"AKIA", "aws-key", Body::Upper, 16),
    exact(b"ASIA", "aws-key", Body::Upper, 16),
    shape(b"AIza", "google-key", Body::Word, 30),
    shape(b"ATATT3", "atlassian-token", Body::Word, 24),
    shape(b"ATBB", "atlassian-token", Body::Alnum, 24),
    shape(b"ATCTT3", "atlassian-token", Body::Word, 24),
    shape(b"CCIPAT_", "circleci-token", Body::Word, 20),
    shape(b"CLOJARS_", "clojars-token", Body::Alnum, 32),
    shape(b"EAAAE", "square-token", Body::Word, 50),
    shape(b"EAA", "facebook-token", Body::Random, 60),
    shape(b"EZAK", "easypost-key", Body::Random, 40),
    shape(b"EZTK", "easypost-key", Body::Random, 40),
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
    shape(b"csk-", "cerebras-key", Body::Random, 40),
    exact(b"dapi", "databricks-token", Body::Hex, 32),
    shape(b"dckr_pat_", "docker-token", Body::Word, 20),
    shape(b"dckr_oat_", "docker-token", Body::Word, 20),
    shape(b"doo_v1_", "digitalocean-token", Body::Hex, 40),
    shape(b"dop_v1_", "digitalocean-token", Body::Hex, 40),
    shape(b"dor_v1_", "digitalocean-token", Body::Hex, 40),
    shape(b"e2b_", "e2b-key", Body::Hex, 40),
    shape(b"eyJ", "jwt", Body::Dotted, 16),
    shape(b"figd_", "figma-token", Body::Word, 30),
    shape(b"figo_", "figma-token", Body::Word, 30),
    shape(b"fo1_", "fly-token", Body::Word, 30),
    shape(b"fm2_", "fly-token", Body::Word, 30),
    shape(b"fw_", "fireworks-key", Body::Random, 20),
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
    shape(b"glpat-", "gitlab-token", Body::Word, 16),
    shape(b"glrt-", "gitlab-token", Body::Word, 16),
    shape(b"glsa_", "grafana-token", Body::Word, 20),
    shape(b"glc_", "grafana-token", Body::Word, 30),
    shape(b"gsk_", "groq-key", Body::Random, 30),
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
    shape(b"ops_eyJ", "onepassword-token", Body::Word, 40),
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
    shape(b"rnd_", "render-key", Body::Random, 24),
    shape(b"re_", "resend-key", Body::Random, 24),
    shape(b"rk_live_", "stripe-key", Body::Alnum, 16),
    shape(b"rk_test_", "stripe-key", Body::Alnum, 16),
    shape(b"rubygems_", "rubygems-key", Body::Hex, 40),
    shape(b"sbp_", "supabase-token", Body::Hex, 40),
    shape(b"sb_secret_", "supabase-token", Body::Word, 20),
    shape(b"sgp_", "sourcegraph-token", Body::Hex, 40),
    shape(b"shippo_live_", "shippo-token", Body::Hex, 30),
    shape(b"shippo_test_", "shippo-token", Body::Hex, 30),
    shape(b"secret_", "notion-token", Body::Random, 40),
    shape(b"shpat_", "shopify-token", Body::Hex, 30),
    shape(b"shpss_", "shopify-token", Body::Hex, 30),
    shape(b"shppa_", "shopify-token", Body::Hex, 30),
    shape(b"shpca_", "shopify-token", Body::Hex, 30),
    shape(b"sk-ant-", "anthropic-key", Body::Word, 16),
    shape(b"sk-proj-", "openai-key", Body::Word, 16),
    shape(b"sk-svcacct-", "openai-key", Body::Word, 16),
    shape(b"sk-admin-", "openai-key", Body::Word, 16),
    shape(b"sk-or-v1-", "openrouter-key", Body::Word, 16),
    shape(b"sk-or-", "openrouter-key", Body::Random, 17),
    shape(b"sk-lf-", "langfuse-key", Body::Word, 16),
    shape(b"sk-", "openai-key", Body::Random, 17),
    shape(b"sk_live_", "stripe-key", Body::Alnum, 16),
    shape(b"sk_test_", "stripe-key", Body::Alnum, 16),
    shape(b"sk_", "api-key", Body::Random, 32),
    shape(b"sntrys_", "sentry-token", Body::Word, 30),
    shape(b"sntryu_", "sentry-token", Body::Word, 30),
    shape(b"sq0atp-", "square-token", Body::Word, 20),
    shape(b"sq0csp-", "square-token", Body::Word, 30),
    shape(b"tgp_v1_", "together-key", Body::Word, 30),
    shape(b"tskey-", "tailscale-key", Body::Word, 16),
    shape(b"tvly-", "tavily-key", Body::Random, 20),
    shape(b"whsec_", "webhook-secret", Body::Alnum, 20),
    shape(b"xai-", "xai-key", Body::Random, 30),
    shape(b"xapp-", "slack-token", Body::Word, 16),
    shape(b"xkeysib-", "brevo-key", Body::Word, 40),
    shape(b"xsmtpsib-", "brevo-key", Body::Word, 40),
    shape(b"xoxa-", "slack-token", Body::Word, 15),
    shape(b"xoxb-", "slack-token", Body::Word, 15),
    shape(b"xoxc-", "slack-token", Body::Word, 15),
    shape(b"xoxd-", "slack-token", Body::Word, 15),
    shape(b"xoxe-", "slack-token", Body::Word, 15),
    shape(b"xoxo-", "slack-token", Body::Word, 15),
    shape(b"xoxp-", "slack-token", Body::Word, 15),
    shape(b"xoxr-", "slack-token", Body::Word, 15),
    shape(b"xoxs-", "slack-token", Body::Word, 15),
];

/// For each byte where its shapes are in [`SHAPES`]: the first, and one past the last.
static FIRST: [(u8, u8); 256] = first_bytes();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn first_bytes() -> [(u8, u8); 256] {
    let mut table = [(0u8, 0u8); 256];
    let mut at = 0;
    while at < SHAPES.len() {
        let first = SHAPES[at].prefix[0] as usize;
        if table[first].1 == 0 {
            table[first].0 = at as u8;
        }
        assert!(
            table[first].1 == 0 || table[first].1 == at as u8,
            "shapes of one first byte must stand together"
        );
        table[first].1 = at as u8 + 1;
        at += 1;
    }
    table
}

fn candidates(first: u8) -> &'static [Shape] {
    let (from, to) = FIRST.get(first as usize).copied().unwrap_or_default();
    SHAPES.get(from as usize..to as usize).unwrap_or_default()
}

/// Whether `run` begins like a key.
pub(super) fn suspect(run: &[u8]) -> bool {
    let Some(first) = run.first() else { return false };
    candidates(*first).iter().any(|shape| shape.body_of(run).is_some())
}

impl Shape {
    /// What follows the prefix. Every prefix has two letters, and most runs differ in the second.
    #[inline(always)]
    fn body_of<'r>(&self, run: &'r [u8]) -> Option<&'r [u8]> {
        if self.prefix.get(1) == run.get(1) { run.strip_prefix(self.prefix) } else { None }
    }
}

/// The length and kind of the key at the start of `text`, whose first `run` bytes are word characters.
pub(super) fn matches(text: &[u8], run: usize) -> Option<(usize, &'static str)> {
    let first = text.first()?;
    candidates(*first).iter().find_map(|shape| {
        let body = shape.body_of(text.get(..run)?)?;
        let length = match shape.body {
            Body::Word => body.len(),
            Body::Random if values::random(body) => body.len(),
            Body::Random => return None,
            Body::Alnum => prefix(body, u8::is_ascii_alphanumeric),
            Body::Upper => prefix(body, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()),
            Body::Hex => prefix(body, |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
            Body::Dotted => {
                let parts = dotted(text.get(run..)?);
                if parts < 8 {
                    return None;
                }
                body.len() + parts
            }
        };
        let filler = |six: &[u8]| matches!(six, [first, rest @ ..] if rest.iter().all(|byte| byte == first));
        let placeholder = part(body, 0, 64).windows(6).any(filler);
        let within = (shape.least..=shape.most).contains(&length);
        (within && !placeholder).then_some((shape.prefix.len() + length, shape.kind))
    })
}

fn prefix(body: &[u8], belongs: impl Fn(&u8) -> bool) -> usize {
    body.iter().take_while(|byte| belongs(byte)).count()
}

/// Length of the `.part.part` that follows a key; a dot that ends a sentence does not belong to it.
pub(super) fn dotted(text: &[u8]) -> usize {
    let mut length = 0;
    while let Some(rest) = text.get(length..).and_then(|rest| rest.strip_prefix(b".")) {
        let part = prefix(rest, |byte| is_word(*byte));
        if part == 0 {
            break;
        }
        length += 1 + part;
    }
    length
}
