-- The ledger: what was told. Everything below "projections" can be folded from it again.
-- Words of closed sets are stored as their place in `ALL`; a test pins those places.

-- Texts that repeat (tools, models, projects, types of agents, paths), each stored once.
CREATE TABLE word (
  id   INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
);

-- One observation that came on its own (a hook, an HTTP event), or one file that is read in parts.
CREATE TABLE source (
  id      INTEGER PRIMARY KEY,
  time    INTEGER NOT NULL,         -- of a name that begins with its moment: that, so that neighbours in time stand together
  name    INTEGER NOT NULL,         -- XXH3-64 of its name
  agent   INTEGER NOT NULL,
  channel INTEGER NOT NULL,
  arrived INTEGER NOT NULL,
  task    INTEGER,                  -- the first task that it told of, so that deleting that one deletes its bytes
  payload INTEGER,                  -- hash of its bytes, where equal bytes are one event told twice
  kept    BLOB,                     -- its name, a line feed, and its bytes after privacy; dropped after a while
  UNIQUE (time, name)
);
-- By time first: hashes alone would touch another page for every event, and there are thousands of them.
CREATE INDEX source_payload ON source (arrived / 5000, payload) WHERE payload IS NOT NULL;

-- How far a file has been read.
CREATE TABLE cursor (
  source TEXT PRIMARY KEY,
  agent  INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  state  BLOB NOT NULL
) WITHOUT ROWID;

-- Entries, in the order of delivery.
CREATE TABLE entry (
  seq     INTEGER PRIMARY KEY,
  task    INTEGER NOT NULL,
  fact    INTEGER NOT NULL,         -- number of the fact it belongs to, after aliases
  uid     INTEGER NOT NULL,         -- hash of the observation's name and the entry's place in it
  source  INTEGER NOT NULL,
  channel INTEGER NOT NULL,
  machine INTEGER NOT NULL,         -- word
  data    BLOB NOT NULL             -- the entry, encoded
);
CREATE UNIQUE INDEX entry_of_fact ON entry (task, fact, uid);
CREATE INDEX entry_of_source ON entry (source, uid);

-- Names that belong to one fact: every key of a class that has more than one, with the class's fact.
CREATE TABLE alias (
  task INTEGER NOT NULL,
  key  INTEGER NOT NULL,
  fact INTEGER NOT NULL,
  PRIMARY KEY (task, key)
) WITHOUT ROWID;

-- What became of observations.
CREATE TABLE outcome (
  outcome INTEGER NOT NULL,
  channel INTEGER NOT NULL,
  reason  TEXT NOT NULL,
  n       INTEGER NOT NULL,
  last    INTEGER NOT NULL,
  PRIMARY KEY (outcome, channel, reason)
) WITHOUT ROWID;

-- Names that no reader knows.
CREATE TABLE unrecognised (
  agent   INTEGER NOT NULL,
  version TEXT NOT NULL,
  what    TEXT NOT NULL,
  name    TEXT NOT NULL,
  n       INTEGER NOT NULL,
  PRIMARY KEY (agent, version, what, name)
) WITHOUT ROWID;

-- What was deleted on purpose and must not come back.
CREATE TABLE tombstone (
  task  TEXT PRIMARY KEY,           -- the task's id
  until INTEGER NOT NULL            -- nothing up to this moment
) WITHOUT ROWID;

-- Numbers of the whole: `seq`, `indexed` (search), `prices`, …
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;

-- Projections.

CREATE TABLE task (
  id        INTEGER PRIMARY KEY,    -- a small number: every key of the task begins with it
  uid       TEXT NOT NULL UNIQUE,   -- the task's id
  agent     INTEGER NOT NULL,
  session   TEXT NOT NULL,          -- the agent's id of the session
  told      BLOB NOT NULL,          -- ledger: what was told of the task itself, field by field
  background INTEGER NOT NULL DEFAULT 0,
  parent    INTEGER,                -- task.id
  parent_certainty INTEGER,
  continues INTEGER,
  forked    INTEGER,
  title     TEXT NOT NULL DEFAULT '',
  agent_type INTEGER NOT NULL DEFAULT 0, -- word
  cwd       TEXT NOT NULL DEFAULT '',
  project   INTEGER NOT NULL DEFAULT 0,  -- word
  model     INTEGER,                -- word
  machine   INTEGER NOT NULL DEFAULT 0,  -- word
  pid       INTEGER,
  pid_start INTEGER,
  started   INTEGER NOT NULL DEFAULT 0,
  last      INTEGER NOT NULL DEFAULT 0,
  ended     INTEGER,
  status    INTEGER NOT NULL DEFAULT 0,
  waiting   INTEGER,                -- reason
  waiting_since INTEGER,
  waiting_fact  INTEGER,            -- number of the fact that asks
  current   TEXT,                   -- what it does just now
  context_pct REAL,
  events    INTEGER NOT NULL DEFAULT 0,
  calls     INTEGER NOT NULL DEFAULT 0,
  failures  INTEGER NOT NULL DEFAULT 0,
  turns     INTEGER NOT NULL DEFAULT 0,
  input     INTEGER NOT NULL DEFAULT 0,
  output    INTEGER NOT NULL DEFAULT 0,
  cache_read  INTEGER NOT NULL DEFAULT 0,
  cache_write INTEGER NOT NULL DEFAULT 0,
  reasoning INTEGER NOT NULL DEFAULT 0,
  cost      INTEGER NOT NULL DEFAULT 0,  -- pico-dollars
  responses INTEGER NOT NULL DEFAULT 0,
  unpriced  INTEGER NOT NULL DEFAULT 0,
  copies    INTEGER NOT NULL DEFAULT 0,
  wait_ms   INTEGER NOT NULL DEFAULT 0,
  client_cost INTEGER,              -- pico-dollars, as the client says
  residual  TEXT,                   -- JSON of project::residual::Residual
  changed   INTEGER NOT NULL DEFAULT 0  -- seq
);
-- Lists of tasks are answered from these alone, whatever they are narrowed by.
-- (`events` is among the columns because a condition on a column that is not there needs the row, even this one.)
CREATE INDEX task_newest ON task
  (last, id, status, background, agent, agent_type, project, model, failures, started, waiting, events) WHERE events > 0;
CREATE INDEX task_status ON task (status, last, id, waiting, events) WHERE events > 0;
CREATE INDEX task_project ON task
  (project, last, id, status, background, agent, agent_type, model, failures, started, waiting, events) WHERE events > 0;
-- Tasks that went on for more than a day: few, and the only ones that a moment long before their end may have seen.
CREATE INDEX task_long ON task
  (last, id, status, background, agent, agent_type, project, model, failures, started, waiting, events)
  WHERE events > 0 AND last - started > 86400000;
-- Tasks of which a call failed: with the tasks above them, all that a list of tasks with failures can show.
CREATE INDEX task_failed ON task (failures, id, parent) WHERE failures > 0;
CREATE INDEX task_changed ON task (changed);
CREATE INDEX task_parent ON task (parent) WHERE parent IS NOT NULL;
CREATE INDEX task_forked ON task (forked) WHERE forked IS NOT NULL;
CREATE INDEX task_process ON task (pid, pid_start) WHERE pid IS NOT NULL;

-- Events and turns.
CREATE TABLE fact (
  id       INTEGER PRIMARY KEY,
  task     INTEGER NOT NULL,
  fact     INTEGER NOT NULL,        -- FactId::number, as a signed integer
  kind     INTEGER NOT NULL,        -- Kind; -1 for a turn
  list     INTEGER NOT NULL,        -- project::List
  lane     INTEGER NOT NULL,
  occurred INTEGER NOT NULL,
  ord      INTEGER NOT NULL,
  ended    INTEGER,
  state    INTEGER,                 -- CallState
  open     INTEGER NOT NULL,        -- 1: nobody said how this call ended; state and ended are then derived
  tool     INTEGER,                 -- word
  turn     INTEGER,                 -- number of the turn's fact
  duration INTEGER,
  error    INTEGER,                 -- ErrorClass
  signature INTEGER,                -- of a call or a permission: the same input has the same; of a response: 1 if the provider's account told it; of a decision: project::ruling
  certainty INTEGER NOT NULL,
  channels INTEGER NOT NULL,        -- bit set
  changed  INTEGER NOT NULL,        -- seq
  data     BLOB NOT NULL,           -- project::FactData, encoded
  derived  TEXT                     -- JSON object laid over the metadata: what follows from other facts
);
CREATE UNIQUE INDEX fact_key ON fact (task, fact);
-- The timeline, and all that drawing it needs.
-- The small numbers are one, because a long task is drawn from a hundred thousand entries and each value costs.
CREATE INDEX fact_time ON fact (
  task, occurred, ord, fact, kind, ended,
  (lane | (kind << 8) | (certainty << 16) | (ifnull(state, 255) << 24) | (ifnull(tool, 0) << 32))
) WHERE kind >= 0;
CREATE INDEX fact_list ON fact (task, list, occurred, ord, fact, kind);
CREATE INDEX fact_changed ON fact (changed);
CREATE INDEX fact_open ON fact (task) WHERE open = 1;
CREATE INDEX fact_signature ON fact (task, signature, occurred) WHERE signature IS NOT NULL;
-- Decisions of rules (list 15 is `List::Rule`), newest first: of one rule, and of all. The lowest byte of a signature says what it came to.
CREATE INDEX fact_rule ON fact (signature >> 8, occurred, ord, fact, task, signature) WHERE list = 15;
CREATE INDEX fact_ruled ON fact (occurred, ord, fact, task, signature) WHERE list = 15;
-- List 9 is `List::Response`.
CREATE INDEX fact_response ON fact (task, turn, signature) WHERE list = 9;
-- What a search is narrowed by, without what rows show: a hundred of them stand on a page instead of a few.
CREATE INDEX fact_brief ON fact (id, task, kind, occurred, state, duration);

-- Files touched by a call, and the sums of it.
CREATE TABLE file_touch (
  task     INTEGER NOT NULL,
  path     INTEGER NOT NULL,        -- word
  occurred INTEGER NOT NULL,
  fact     INTEGER NOT NULL,
  PRIMARY KEY (task, path, occurred, fact)
) WITHOUT ROWID;
CREATE TABLE file_use (
  task     INTEGER NOT NULL,
  path     INTEGER NOT NULL,
  reads    INTEGER NOT NULL,
  changes  INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  PRIMARY KEY (task, path)
) WITHOUT ROWID;

-- How often the same call was made in a task.
CREATE TABLE repeat (
  task      INTEGER NOT NULL,
  signature INTEGER NOT NULL,
  n         INTEGER NOT NULL,
  failures  INTEGER NOT NULL,
  PRIMARY KEY (task, signature)
) WITHOUT ROWID;
CREATE INDEX repeat_often ON repeat (n) WHERE n >= 3;
CREATE INDEX repeat_of_task ON repeat (task, n) WHERE n >= 3;

-- What each model was asked for in a task. Copies count elsewhere; what they cost is known here only.
CREATE TABLE task_model (
  task      INTEGER NOT NULL,
  model     INTEGER NOT NULL,       -- word
  copied    INTEGER NOT NULL,
  n         INTEGER NOT NULL,
  input     INTEGER NOT NULL,
  output    INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,
  searches  INTEGER NOT NULL,
  cost      INTEGER NOT NULL,
  unpriced  INTEGER NOT NULL,
  PRIMARY KEY (task, model, copied)
) WITHOUT ROWID;

-- What each skill was activated and asked for in a task.
CREATE TABLE task_skill (
  task      INTEGER NOT NULL,
  skill     INTEGER NOT NULL,       -- word
  n         INTEGER NOT NULL,       -- activations
  failures  INTEGER NOT NULL,
  responses INTEGER NOT NULL,
  input     INTEGER NOT NULL,
  output    INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost      INTEGER NOT NULL,
  unpriced  INTEGER NOT NULL,
  PRIMARY KEY (task, skill)
) WITHOUT ROWID;

-- Activations that may answer for the responses after them, in their turn.
CREATE TABLE activation (
  task     INTEGER NOT NULL,
  turn     INTEGER NOT NULL,        -- number of the turn's fact
  occurred INTEGER NOT NULL,
  fact     INTEGER NOT NULL,
  skill    INTEGER NOT NULL,        -- word
  PRIMARY KEY (task, turn, occurred, fact)
) WITHOUT ROWID;

-- Who holds a response of a provider: rows of several sessions may tell of one. Fact 0: the session was given a copy of
-- it that is not told.
CREATE TABLE holder (
  response INTEGER NOT NULL,        -- hash of the provider's id
  task     INTEGER NOT NULL,
  fact     INTEGER NOT NULL,
  PRIMARY KEY (response, task, fact)
) WITHOUT ROWID;

-- Sums of a turn.
CREATE TABLE turn_sum (
  task      INTEGER NOT NULL,
  turn      INTEGER NOT NULL,
  calls     INTEGER NOT NULL,
  failures  INTEGER NOT NULL,
  records   INTEGER NOT NULL,       -- responses that an account of the provider tells of
  input     INTEGER NOT NULL,
  output    INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost      INTEGER NOT NULL,
  responses INTEGER NOT NULL,
  unpriced  INTEGER NOT NULL,
  PRIMARY KEY (task, turn)
) WITHOUT ROWID;

-- Sums over time, for each project and for all of them (project -1). `level` 0: UTC quarter-hours, 1: UTC days, 2: UTC months; `at` is the beginning in milliseconds.
CREATE TABLE rollup (
  dim       INTEGER NOT NULL,       -- tally::Dim
  level     INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  project   INTEGER NOT NULL,       -- word
  actor     INTEGER NOT NULL,       -- word: `<agent>/<type of agent>`
  key       INTEGER NOT NULL,       -- word
  n         INTEGER NOT NULL,
  failures  INTEGER NOT NULL,
  ms        INTEGER NOT NULL,
  wait_ms   INTEGER NOT NULL,
  input     INTEGER NOT NULL,
  output    INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost      INTEGER NOT NULL,
  unpriced  INTEGER NOT NULL,
  calls     INTEGER NOT NULL DEFAULT 0,  -- of dimension 0: how many of the rows are calls
  -- Later measures get their columns from measures::COLUMNS (upgrade.rs).
  -- By time first: what one event counts into stands on a few pages, whatever it is told apart by.
  PRIMARY KEY (level, at, dim, project, actor, key)
) WITHOUT ROWID;
-- The files that were used most in a stretch. With every column that the sum is made of: SQLite says that it reads an
-- index alone which has the sum, and looks each row up in the table nevertheless. Dimension 7 is `Dim::File`.
CREATE INDEX rollup_top ON rollup (level, at, project, n + failures, n, failures) WHERE dim = 7;

-- Durations of calls in logarithmic buckets, packed (project::latency): days for each project and for all of them
-- (project -1), months for all.
CREATE TABLE latency (
  level   INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  project INTEGER NOT NULL,
  actor   INTEGER NOT NULL,         -- word: `<agent>/<type of agent>`; -1: not known
  tool    INTEGER NOT NULL,
  buckets BLOB NOT NULL,
  PRIMARY KEY (level, at, project, actor, tool)
) WITHOUT ROWID;

-- Totals of what retention dropped, in the shape of the tables above. They belong to the ledger: nothing can tell them
-- again.
CREATE TABLE sealed_rollup (
  dim INTEGER NOT NULL, level INTEGER NOT NULL, at INTEGER NOT NULL, project INTEGER NOT NULL, actor INTEGER NOT NULL,
  key INTEGER NOT NULL, n INTEGER NOT NULL, failures INTEGER NOT NULL, ms INTEGER NOT NULL, wait_ms INTEGER NOT NULL,
  input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  reasoning INTEGER NOT NULL, cost INTEGER NOT NULL, unpriced INTEGER NOT NULL, calls INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (dim, level, at, project, actor, key)
) WITHOUT ROWID;
CREATE TABLE sealed_latency (
  level INTEGER NOT NULL, at INTEGER NOT NULL, project INTEGER NOT NULL, actor INTEGER NOT NULL, tool INTEGER NOT NULL,
  buckets BLOB NOT NULL, PRIMARY KEY (level, at, project, actor, tool)
) WITHOUT ROWID;
CREATE TABLE sealed_model (
  task INTEGER NOT NULL, model INTEGER NOT NULL, copied INTEGER NOT NULL, n INTEGER NOT NULL, input INTEGER NOT NULL,
  output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, cache_write_1h INTEGER NOT NULL,
  searches INTEGER NOT NULL, cost INTEGER NOT NULL, unpriced INTEGER NOT NULL,
  PRIMARY KEY (task, model, copied)
) WITHOUT ROWID;
CREATE TABLE sealed_skill (
  task INTEGER NOT NULL, skill INTEGER NOT NULL, n INTEGER NOT NULL, failures INTEGER NOT NULL,
  responses INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost INTEGER NOT NULL, unpriced INTEGER NOT NULL,
  PRIMARY KEY (task, skill)
) WITHOUT ROWID;
CREATE TABLE sealed_task (
  task      INTEGER PRIMARY KEY,    -- task.id
  until     INTEGER NOT NULL,       -- what is told of it up to this moment is in the sums below
  started   INTEGER NOT NULL,
  last      INTEGER NOT NULL,
  status    INTEGER NOT NULL,
  ended     INTEGER,
  events    INTEGER NOT NULL, calls INTEGER NOT NULL, failures INTEGER NOT NULL, turns INTEGER NOT NULL,
  input     INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  reasoning INTEGER NOT NULL, cost INTEGER NOT NULL, responses INTEGER NOT NULL, unpriced INTEGER NOT NULL,
  copies    INTEGER NOT NULL, wait_ms INTEGER NOT NULL,
  active_ms INTEGER NOT NULL DEFAULT 0,  -- from here on what no other table keeps: the summary is made of it
  files_read INTEGER NOT NULL DEFAULT 0, files_changed INTEGER NOT NULL DEFAULT 0,
  permissions INTEGER NOT NULL DEFAULT 0, compactions INTEGER NOT NULL DEFAULT 0
);

-- What each task added to these totals, packed (sqlite/share.rs), so that deleting it on purpose takes that away again.
-- Tasks that were sealed before schema 9 have none.
CREATE TABLE sealed_share (
  task INTEGER PRIMARY KEY,         -- task.id
  data BLOB NOT NULL
);

-- Search: filled by a follower, which remembers how far it came in meta `indexed`.
CREATE VIRTUAL TABLE search USING fts5(
  tokens, content = '', contentless_delete = 1, detail = none, tokenize = "unicode61 remove_diacritics 0 tokenchars '_'"
);
-- Every term of the search index with how often it occurs: the beginning of a word is asked for by its terms.
CREATE TABLE vocabulary (
  term TEXT PRIMARY KEY,
  n    INTEGER NOT NULL
) WITHOUT ROWID;
