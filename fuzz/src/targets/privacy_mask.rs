//! Whatever text is masked: twice is as good as once, and no marker is torn.

use agent_tracer_privacy::mask;

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "privacy_mask",
    run,
    seeds,
    dictionary: &[
        b"password=",
        b"password: \"",
        b"\"token\": \"",
        b"TOKEN=",
        b"api_key = '",
        b"Authorization: Bearer ",
        b"Cookie: a=",
        b"--password ",
        b"mysql -p",
        b"curl -u a:",
        b"https://user:",
        b"@host/",
        b"-----BEGIN RSA PRIVATE KEY-----\n",
        b"-----END RSA PRIVATE KEY-----",
        b"eyJhbGciOiJIUzI1NiJ9.",
        b"[masked:token]",
        b"[masked:",
        b"${TOKEN}",
        b"\\n",
        b"\\\"",
        "…".as_bytes(),
    ],
};

fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let once = mask(&text);
    assert_eq!(mask(&once), once, "masking is idempotent");
    let markers = |text: &str| text.matches("[masked:").count();
    assert!(once.len() <= text.len() + 32 * markers(&once), "only markers make a text longer");
}

fn seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 5] = [
        b"export API_KEY=abcdef0123456789abcdef && curl -H \"Authorization: Bearer abc123def456\" https://u:p@host/",
        b"{\"password\": \"hunter2\", \"port\": 5432, \"note\": \"nothing to see\"}",
        b"drwxr-xr-x  5 dev dev  4096 Nov 15 21:14 crates and some more words of output",
        b"postgres://app:secret@db:5432/app?sslmode=require --token abc mysql -pPass",
        b"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n",
    ];
    texts.iter().map(|text| text.to_vec()).collect()
}
