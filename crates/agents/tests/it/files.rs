//! Settings files as people and agents write them: the material of the other tests.

/// Settings of Claude Code, by what is special about them.
pub(crate) const CLAUDE: &[(&str, &str)] = &[
    ("a file that is not there", ""),
    ("white space only", " \n\t\n"),
    ("an empty object", "{}"),
    ("an empty object and a line end", "{}\n"),
    ("an empty object with a space", "{ }\n"),
    ("an empty object over two lines", "{\n}\n"),
    ("an empty object over two lines, CRLF", "{\r\n}\r\n"),
    ("minified", r#"{"model":"opus","permissions":{"allow":["Bash(ls:*)"]}}"#),
    ("one line with spaces", r#"{ "model": "opus", "cleanupPeriodDays": 90 }"#),
    (
        "as Claude Code writes it",
        "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"allow\": []\n  }\n}\n",
    ),
    ("four spaces", "{\n    \"model\": \"opus\",\n    \"env\": {\n        \"A\": \"1\"\n    }\n}"),
    ("tabs", "{\n\t\"model\": \"opus\",\n\t\"hooks\": {}\n}\n"),
    ("CRLF", "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}\r\n"),
    ("a byte order mark", "\u{feff}{\n  \"model\": \"opus\"\n}\n"),
    (
        "comments",
        "// mine\n{\n  // the model\n  \"model\": \"opus\", // big\n  /* more */ \"a\": 1 // last\n  // end\n}\n// bye\n",
    ),
    ("a comment in an empty object", "{ // nothing here yet\n}\n"),
    ("a block comment in an empty object", "{/* nothing here yet */}"),
    ("a comment behind the last value on one line", "{\"a\":1 /* one */}"),
    ("trailing commas", "{\n  \"a\": [1, 2,],\n  \"hooks\": {\n    \"Stop\": [],\n  },\n}\n"),
    ("a trailing comma and a comment", "{\n  \"a\": 1, // one\n}\n"),
    ("a trailing comma on one line", "{\"a\":1,}"),
    (
        "foreign hooks",
        r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "~/bin/guard.sh"
          }
        ]
      }
    ],
    "Stop": [
      { "hooks": [ { "type": "command", "command": "say done" } ] },
      { "matcher": "", "hooks": [ { "type": "command", "command": "agent-tracer-hooker" } ] }
    ],
    "WorktreeCreate": [{"hooks": [{"type": "command", "command": "make-tree"}]}]
  },
  "model": "opus"
}
"#,
    ),
    (
        "brackets on one line",
        "{\n  \"hooks\": {\n    \"Stop\": [{\n      \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]\n    }]\n  }\n}\n",
    ),
    ("foreign hooks, minified", r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]},"z":1}"#),
    (
        "an empty list of foreign origin",
        "{\n  \"hooks\": {\n    \"Stop\": [ ],\n    \"SubagentStop\": [\n    ]\n  }\n}\n",
    ),
    ("empty hooks on one line", r#"{"hooks": {}}"#),
    (
        "a status line of the user",
        "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"~/bin/line.sh \\u002d\\u002dshort\",\n    \"padding\": 0\n  }\n}\n",
    ),
    ("a status line, minified", r#"{"statusLine":{"type":"command","command":"line"},"a":null}"#),
    (
        "a status line of another kind",
        "{\n  \"statusLine\": {\n    \"type\": \"text\",\n    \"text\": \"hi\"\n  }\n}\n",
    ),
    (
        "names twice",
        "{\n  \"hooks\": {\"Stop\": []},\n  \"model\": \"a\",\n  \"hooks\": {\"Stop\": []},\n  \"model\": \"b\"\n}\n",
    ),
    ("escaped names", "{\n  \"h\\u006foks\": {\n    \"St\\u006fp\": []\n  }\n}\n"),
    (
        "text beyond ASCII",
        "{\n  \"spinnerVerbs\": [\"grübelt\", \"🤔\", \"考える\", \"\\ud83e\\udd14\"]\n}\n",
    ),
    ("no indentation", "{\n\"a\": 1,\n\"b\": {\n\"c\": 2\n}\n}\n"),
    ("odd numbers", "{\"a\": -1.5e+300, \"b\": 1E5, \"c\": 0.10, \"d\": 123456789012345678901234567890}"),
    ("leading white space", "\n\n   {\n     \"a\": 1\n   }\n\n"),
];

/// Hooks of Codex, by what is special about them.
pub(crate) const CODEX: &[(&str, &str)] = &[
    ("a file that is not there", ""),
    ("an empty object", "{}"),
    ("only a description", "{\n  \"description\": \"mine\"\n}\n"),
    ("empty hooks", "{\"hooks\": {}}\n"),
    (
        "foreign hooks",
        r#"{
  "description": "lint",
  "hooks": {
    "PostToolUse": [
      { "matcher": "^Bash$", "hooks": [ { "type": "command", "command": "lint", "timeout": 5 } ] },
      { "hooks": [ { "type": "command", "command": "notify" }, { "type": "mcp_tool", "server": "a", "tool": "b" } ] }
    ],
    "Unknown": []
  }
}
"#,
    ),
    ("minified", r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}"#),
    ("CRLF and tabs", "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": []\r\n\t}\r\n}\r\n"),
];
