//! Defines the arguments of `demo`.

use clap::Args;

/// Replays recorded sessions in a temporary home, as if they happened now
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer demo                   at the recorded speed, until Ctrl-C
  agent-tracer demo --speed 4         four times as fast
  agent-tracer demo --once            play each session once, then keep showing it

Sessions of the real Claude Code and the real Codex go through the real hook into a server of their
own: parallel and nested subagents, failures, permissions and compaction. Your own data, settings
and agents are not touched; the temporary home is removed at the end.")]
pub(crate) struct Demo {
    /// Playback speed; 1 is as recorded
    #[arg(long, value_name = "N", default_value = "1", value_parser = speed)]
    pub(crate) speed: f64,
    /// Play each session once instead of in a loop
    #[arg(long)]
    pub(crate) once: bool,
    /// Days of history before the first session
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(0..=90))]
    pub(crate) days: u32,
    /// Address to listen on; port 0 is any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: std::net::SocketAddr,
}

fn speed(word: &str) -> Result<f64, String> {
    let speed: f64 = word.parse().map_err(|_| "not a number".to_owned())?;
    if (0.1..=10_000.0).contains(&speed) { Ok(speed) } else { Err("not from 0.1 to 10000".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::speed;

    #[test]
    fn a_speed_is_a_number_that_gets_somewhere() {
        assert_eq!(speed("0.5"), Ok(0.5));
        for word in ["0", "-1", "fast", "NaN", "inf", "1e9", ""] {
            assert!(speed(word).is_err(), "{word}");
        }
    }
}
