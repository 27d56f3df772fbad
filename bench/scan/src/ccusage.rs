//! The peer: `ccusage`, the native program of the npm package, without network.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::contestants::Answer;

/// The version that the numbers in the documents are of.
const VERSION: &str = "20";

/// Installs the program into a cache directory, once, and says where it is.
pub(crate) fn install(cache: &Path) -> Result<PathBuf, String> {
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let package = format!("@ccusage/ccusage-{system}-{arch}");
    let folder = cache.join("ccusage");
    let program = folder.join("node_modules").join(&package).join("bin/ccusage");
    if !program.exists() {
        fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
        let wanted = format!("{package}@{VERSION}");
        let status = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--no-save", "--silent", "--prefix"])
            .arg(&folder)
            .arg(&wanted)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|error| format!("cannot run `npm`: {error}"))?;
        if !status.success() || !program.exists() {
            return Err(format!("`npm install {wanted}` ended with {status}"));
        }
    }
    // The package leaves it to its launcher to make the program executable.
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&program, executable)
        .map_err(|error| format!("cannot make it executable: {error}"))?;
    program.canonicalize().map_err(|error| format!("cannot find `{}`: {error}", program.display()))
}

/// The command that reports a corpus by day.
pub(crate) fn command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["claude", "daily", "--json", "--offline", "--timezone", "UTC"]);
    command.env("CLAUDE_CONFIG_DIR", home).env("HOME", home).env("NO_COLOR", "1");
    command
}

/// Reads its report.
pub(crate) fn answer(report: &[u8]) -> Result<Answer, String> {
    let report: Value = serde_json::from_slice(report)
        .map_err(|error| format!("the report of ccusage is no JSON: {error}"))?;
    let total = |name: &str| report.get("totals").and_then(|totals| totals.get(name)).and_then(Value::as_u64);
    let names = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens"];
    let mut tokens = [0; 4];
    for (place, name) in tokens.iter_mut().zip(names) {
        *place = total(name).ok_or_else(|| format!("the report of ccusage has no `{name}`"))?;
    }
    Ok(Answer { tokens, ..Answer::default() })
}
