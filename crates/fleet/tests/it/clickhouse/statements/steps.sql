-- step 2
-- create: 2 to 14
ALTER TABLE `task` ADD INDEX IF NOT EXISTS by_task task TYPE bloom_filter(0.001) GRANULARITY 1;
ALTER TABLE `task` ADD INDEX IF NOT EXISTS by_last last TYPE minmax GRANULARITY 1;
ALTER TABLE `task` ADD INDEX IF NOT EXISTS by_parent parent TYPE bloom_filter(0.0001) GRANULARITY 1;
ALTER TABLE `task` ADD INDEX IF NOT EXISTS by_terms terms TYPE bloom_filter(0.01) GRANULARITY 1;
ALTER TABLE `fact` ADD INDEX IF NOT EXISTS by_occurred occurred TYPE minmax GRANULARITY 1;
ALTER TABLE `fact` ADD INDEX IF NOT EXISTS by_arrived arrived TYPE minmax GRANULARITY 1;
ALTER TABLE `fact` ADD INDEX IF NOT EXISTS by_terms terms TYPE bloom_filter(0.01) GRANULARITY 1;
ALTER TABLE `fact` ADD INDEX IF NOT EXISTS by_list list TYPE set(32) GRANULARITY 1;
ALTER TABLE `fact` ADD INDEX IF NOT EXISTS by_beginnings arrayMap(term -> substring(term, 1, 5), terms) TYPE bloom_filter(0.01) GRANULARITY 1;
ALTER TABLE `visit` ADD INDEX IF NOT EXISTS by_reader reader TYPE bloom_filter(0.01) GRANULARITY 1;

-- step 3
-- create: 2 to 14
ALTER TABLE `task` MATERIALIZE INDEX IF EXISTS by_task;
ALTER TABLE `task` MATERIALIZE INDEX IF EXISTS by_last;
ALTER TABLE `task` MATERIALIZE INDEX IF EXISTS by_parent;
ALTER TABLE `task` MATERIALIZE INDEX IF EXISTS by_terms;
ALTER TABLE `fact` MATERIALIZE INDEX IF EXISTS by_occurred;
ALTER TABLE `fact` MATERIALIZE INDEX IF EXISTS by_arrived;
ALTER TABLE `fact` MATERIALIZE INDEX IF EXISTS by_terms;
ALTER TABLE `fact` MATERIALIZE INDEX IF EXISTS by_list;
ALTER TABLE `fact` MATERIALIZE INDEX IF EXISTS by_beginnings;
ALTER TABLE `visit` MATERIALIZE INDEX IF EXISTS by_reader;

-- step 4
-- create: 2 to 14
INSERT INTO task_day (owner, day, task, version, gone) SELECT DISTINCT owner, occurred - positiveModulo(occurred, 86400000) AS day, task, 1 AS version, 0 AS gone FROM fact;
-- step 2: 14 to 23
-- step 3: 14 to 23

-- step 5
INSERT INTO day_mark (owner, day, version, gone) SELECT DISTINCT owner, day, toUInt64(toUnixTimestamp64Milli(now64(3))) * 2 AS version, 0 AS gone FROM ( SELECT owner, day FROM task_day WHERE day < (toUnixTimestamp64Milli(now64(3)) - 600000) - positiveModulo((toUnixTimestamp64Milli(now64(3)) - 600000), 86400000) UNION ALL SELECT owner, day FROM day_sum);
ALTER TABLE `day_sum` ADD COLUMN IF NOT EXISTS `machine` LowCardinality(String) COMMENT 'the machine they ran on' AFTER `key`, MODIFY ORDER BY (owner, dim, level, day, at, project, agent, agent_type, key, machine);
ALTER TABLE `task` DROP INDEX IF EXISTS by_parent;
-- step 2: 14 to 23
-- step 3: 14 to 23

-- retention
ALTER TABLE `task` MODIFY TTL toDateTime(least(greatest(intDiv(last, 1000), 0), 4000000000)) + toIntervalDay(90);
ALTER TABLE `fact` MODIFY TTL toDateTime(least(greatest(intDiv(occurred, 1000), 0), 4000000000)) + toIntervalDay(90);
ALTER TABLE `task_day` MODIFY TTL toDateTime(least(greatest(intDiv(day + 86400000, 1000), 0), 4000000000)) + toIntervalDay(90);
ALTER TABLE `day_sum` MODIFY TTL toDateTime(least(greatest(intDiv(day + 86400000, 1000), 0), 4000000000)) + toIntervalDay(90);
ALTER TABLE `visit` MODIFY TTL toDateTime(least(greatest(intDiv(at, 1000), 0), 4000000000)) + toIntervalDay(90);

-- no retention
ALTER TABLE `task` REMOVE TTL;
ALTER TABLE `fact` REMOVE TTL;
ALTER TABLE `task_day` REMOVE TTL;
ALTER TABLE `day_sum` REMOVE TTL;
ALTER TABLE `visit` REMOVE TTL;

-- deletion
ALTER TABLE `fact` DELETE WHERE owner = 'ann' SETTINGS mutations_sync = 2;
