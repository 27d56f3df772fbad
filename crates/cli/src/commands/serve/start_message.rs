//! Prints the start message of `serve`: the address and the next steps.

use std::net::SocketAddr;

use agent_tracer_event::Agent;
use agent_tracer_server::LINK_MINUTES;
use agent_tracer_spool::Home;

pub(super) fn lines(link: &str, address: SocketAddr, program: &str, home: &Home) -> Vec<String> {
    let mut lines = vec![
        "Agent Tracer is running".to_owned(),
        String::new(),
        format!("  dashboard  {link}"),
        format!("             the link works once, for {LINK_MINUTES} minutes; afterwards http://{address}/"),
    ];
    for (place, agent) in Agent::ALL.iter().enumerate() {
        let heading = if place == 0 { "connect" } else { "" };
        lines.push(format!("  {heading:<11}{program} install {}", agent.spec().word));
    }
    lines.extend([
        format!("  check      {program} doctor"),
        format!("  data       {}", home.data().display()),
        "  stop       Ctrl-C; while it is off nothing is lost".to_owned(),
        String::new(),
    ]);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_next_step_is_named() {
        let home = Home::in_folder("/home/dev/tracer");
        let address = "127.0.0.1:4747".parse().expect("an address");
        let text = lines("http://127.0.0.1:4747/login?code=x", address, "agent-tracer", &home).join("\n");
        for part in [
            "http://127.0.0.1:4747/login?code=x",
            "http://127.0.0.1:4747/\n",
            "agent-tracer install claude",
            "agent-tracer install codex",
            "agent-tracer doctor",
            "/home/dev/tracer",
            "Ctrl-C",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }
}
