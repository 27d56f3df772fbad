-- How many tasks were last heard of in a stretch of time, and how long they had run by then, for each project and for
-- all of them (project -1). Stretches are 2^26 ms (about 19 hours) and 2^31 ms (about 25 days) long: a shift finds them,
-- whatever the year. Nobody writes here but the triggers below, so that whoever changes a task cannot forget it.
-- Both a new file and the step to schema 7 take this text: whoever changes it lets that step keep a copy of the old one.
CREATE TABLE task_count (
  bits       INTEGER NOT NULL,      -- 26 or 31
  at         INTEGER NOT NULL,      -- task.last >> bits
  project    INTEGER NOT NULL,      -- word
  agent      INTEGER NOT NULL,
  agent_type INTEGER NOT NULL,      -- word
  n          INTEGER NOT NULL,
  run_ms     INTEGER NOT NULL,
  -- By time first: what one task counts into stands on two pages.
  PRIMARY KEY (bits, at, project, agent, agent_type)
) WITHOUT ROWID;
CREATE TRIGGER task_counts_on AFTER UPDATE OF started, last ON task
WHEN old.events > 0 AND new.events > 0 AND old.last >> 26 = new.last >> 26 AND old.project = new.project
  AND old.agent_type = new.agent_type
  AND max(old.last - old.started, 0) <> max(new.last - new.started, 0)
BEGIN
  UPDATE task_count SET run_ms = run_ms + max(new.last - new.started, 0) - max(old.last - old.started, 0)
    WHERE bits = 26 AND at = new.last >> 26 AND project IN (new.project, -1) AND agent = new.agent
      AND agent_type = new.agent_type;
  UPDATE task_count SET run_ms = run_ms + max(new.last - new.started, 0) - max(old.last - old.started, 0)
    WHERE bits = 31 AND at = new.last >> 31 AND project IN (new.project, -1) AND agent = new.agent
      AND agent_type = new.agent_type;
END;
CREATE TRIGGER task_leaves AFTER UPDATE OF events, last, project, agent_type ON task
WHEN old.events > 0 AND (new.events <= 0 OR old.last >> 26 <> new.last >> 26 OR old.project <> new.project
  OR old.agent_type <> new.agent_type)
BEGIN
  UPDATE task_count SET n = n - 1, run_ms = run_ms - max(old.last - old.started, 0)
    WHERE bits = 26 AND at = old.last >> 26 AND project IN (old.project, -1) AND agent = old.agent
      AND agent_type = old.agent_type;
  DELETE FROM task_count
    WHERE bits = 26 AND at = old.last >> 26 AND project IN (old.project, -1) AND agent = old.agent
      AND agent_type = old.agent_type AND n = 0;
  UPDATE task_count SET n = n - 1, run_ms = run_ms - max(old.last - old.started, 0)
    WHERE bits = 31 AND at = old.last >> 31 AND project IN (old.project, -1) AND agent = old.agent
      AND agent_type = old.agent_type;
  DELETE FROM task_count
    WHERE bits = 31 AND at = old.last >> 31 AND project IN (old.project, -1) AND agent = old.agent
      AND agent_type = old.agent_type AND n = 0;
END;
CREATE TRIGGER task_goes AFTER DELETE ON task WHEN old.events > 0
BEGIN
  UPDATE task_count SET n = n - 1, run_ms = run_ms - max(old.last - old.started, 0)
    WHERE bits = 26 AND at = old.last >> 26 AND project IN (old.project, -1) AND agent = old.agent
      AND agent_type = old.agent_type;
  DELETE FROM task_count
    WHERE bits = 26 AND at = old.last >> 26 AND project IN (old.project, -1) AND agent = old.agent
      AND agent_type = old.agent_type AND n = 0;
  UPDATE task_count SET n = n - 1, run_ms = run_ms - max(old.last - old.started, 0)
    WHERE bits = 31 AND at = old.last >> 31 AND project IN (old.project, -1) AND agent = old.agent
      AND agent_type = old.agent_type;
  DELETE FROM task_count
    WHERE bits = 31 AND at = old.last >> 31 AND project IN (old.project, -1) AND agent = old.agent
      AND agent_type = old.agent_type AND n = 0;
END;
CREATE TRIGGER task_arrives AFTER UPDATE OF events, last, project, agent_type ON task
WHEN new.events > 0 AND (old.events <= 0 OR old.last >> 26 <> new.last >> 26 OR old.project <> new.project
  OR old.agent_type <> new.agent_type)
BEGIN
  INSERT INTO task_count VALUES
    (26, new.last >> 26, new.project, new.agent, new.agent_type, 1, max(new.last - new.started, 0)),
    (26, new.last >> 26, -1, new.agent, new.agent_type, 1, max(new.last - new.started, 0)),
    (31, new.last >> 31, new.project, new.agent, new.agent_type, 1, max(new.last - new.started, 0)),
    (31, new.last >> 31, -1, new.agent, new.agent_type, 1, max(new.last - new.started, 0))
  ON CONFLICT DO UPDATE SET n = n + 1, run_ms = run_ms + excluded.run_ms;
END;
CREATE TRIGGER task_comes AFTER INSERT ON task WHEN new.events > 0
BEGIN
  INSERT INTO task_count VALUES
    (26, new.last >> 26, new.project, new.agent, new.agent_type, 1, max(new.last - new.started, 0)),
    (26, new.last >> 26, -1, new.agent, new.agent_type, 1, max(new.last - new.started, 0)),
    (31, new.last >> 31, new.project, new.agent, new.agent_type, 1, max(new.last - new.started, 0)),
    (31, new.last >> 31, -1, new.agent, new.agent_type, 1, max(new.last - new.started, 0))
  ON CONFLICT DO UPDATE SET n = n + 1, run_ms = run_ms + excluded.run_ms;
END;
