/** The tables of Insights: their columns, and the addresses behind their numbers. */
import { agents } from '../../app/agents.svelte';
import { taskUrl } from '../../app/taskUrl';
import {
  cost,
  count,
  duration,
  errorName,
  folder,
  foldersOf,
  percent,
  percentChange,
  taskKey,
} from '../../text/format';
import type {
  AgentStat,
  CommandStat,
  FailureStat,
  FileStat,
  Loop,
  McpStat,
  SkillStat,
  ToolStat,
  UsageBucket,
} from '../../api/types';
import { countTokens, type InsightsData } from './data';
import { quote, type InsightsLinks } from './links';
import { costStat, type StatColumn } from './statColumn';

/** A small table of numbers. */
export interface StatTableSpec<T> {
  title: string;
  hint?: string;
  /** The header of the first column. */
  name: string;
  rows: readonly T[];
  /** The same of the previous range; without it nothing is compared. */
  past?: readonly T[];
  key: (row: T) => string;
  /** The key by which the rows of both ranges are compared, if that is not `key`. */
  same?: (row: T) => string;
  label: (row: T) => string;
  /** The agent that a row is about, where it is about one. */
  agent?: (row: T) => string;
  href?: (row: T) => string | undefined;
  stats: readonly StatColumn<T>[];
  /** The text of an empty table. */
  none: string;
  mono?: boolean;
}

/** Failures above this share of the calls are marked. */
const HIGH_FAILURE_SHARE = 0.1;
const WHOLE_DAYS = 'computed over whole UTC days';

const toneOf = (failures: number, calls: number) =>
  failures === 0 ? 'faint' : failures / Math.max(calls, 1) > HIGH_FAILURE_SHARE ? 'bad' : '';
const share = (part: number, whole: number) => part / Math.max(whole, 1);
const dim = () => 'dim';

const USAGE_STATS: readonly StatColumn<UsageBucket>[] = [
  costStat((row) => row.usage, cost),
  { name: 'Output', value: (row) => row.usage.outputTokens, show: (row) => count(row.usage.outputTokens) },
  { name: 'Tokens', value: (row) => countTokens(row.usage), show: (row) => count(countTokens(row.usage)), tone: dim },
];

/** A column of failures that opens the failed calls. */
const failures = <T extends { failures: number }>(
  calls: (row: T) => number,
  href?: (row: T) => string,
): StatColumn<T> => ({
  name: 'Failed',
  value: (row) => row.failures,
  show: (row) => count(row.failures),
  tone: (row) => toneOf(row.failures, calls(row)),
  href,
});

const calls = <T extends { count: number }>(): StatColumn<T> => ({
  name: 'Calls',
  value: (row) => row.count,
  show: (row) => count(row.count),
});

export class InsightsTables {
  private readonly data: InsightsData;
  private readonly past: InsightsData | undefined;
  private readonly links: InsightsLinks;
  private readonly projectNames: ReadonlyMap<string, string>;

  constructor(data: InsightsData, past: InsightsData | undefined, links: InsightsLinks) {
    this.data = data;
    this.past = past;
    this.links = links;
    this.projectNames = foldersOf([
      ...data.projects.map(({ key }) => key),
      ...data.files.map(({ project }) => project),
    ]);
  }

  projectName(path: string): string {
    return this.projectNames.get(path) ?? folder(path);
  }

  get tools(): StatTableSpec<ToolStat> {
    const before = new Map((this.past?.tools ?? []).map((row) => [row.tool, row]));
    const percentile = (name: string, ms: (row: ToolStat) => number | undefined): StatColumn<ToolStat> => ({
      name,
      hint: WHOLE_DAYS,
      value: ms,
      show: (row) => duration(ms(row)),
    });
    const tool = (row: ToolStat) => `tool:${quote(row.tool)}`;
    return {
      title: 'Tools',
      name: 'Tool',
      rows: this.data.tools,
      past: this.past?.tools,
      key: (row) => row.tool,
      label: (row) => row.tool,
      href: (row) => this.links.search(tool(row)),
      none: 'No tool calls',
      stats: [
        calls(),
        failures(
          (row) => row.count,
          (row) => this.links.search('status:failed', tool(row)),
        ),
        percentile('p50', (row) => row.p50Ms),
        percentile('p95', (row) => row.p95Ms),
        { ...percentile('p99', (row) => row.p99Ms), tone: dim },
        {
          name: 'p95 trend',
          value: (row) => (row.p95Ms ?? 0) / (before.get(row.tool)?.p95Ms ?? Infinity),
          show: (row) => percentChange(row.p95Ms ?? 0, before.get(row.tool)?.p95Ms ?? 0),
          tone: dim,
        },
      ],
    };
  }

  get failures(): StatTableSpec<FailureStat> {
    return {
      title: 'Failures',
      name: 'Error type and tool',
      rows: this.data.failures,
      past: this.past?.failures,
      key: (row) => `${row.errorClass} ${row.tool}`,
      label: (row) => `${errorName(row.errorClass)} · ${row.tool}`,
      href: (row) => this.links.search('status:failed', `tool:${quote(row.tool)}`),
      none: 'No failures',
      stats: [
        { name: 'Count', value: (row) => row.count, show: (row) => count(row.count) },
        {
          name: 'Failure rate',
          value: (row) => share(row.count, row.calls),
          show: (row) => percent(share(row.count, row.calls) * 100),
          tone: (row) => toneOf(row.count, row.calls),
        },
      ],
    };
  }

  get commands(): StatTableSpec<CommandStat> {
    return {
      title: 'Commands',
      name: 'Program',
      hint: 'by total time',
      mono: true,
      rows: this.data.commands,
      past: this.past?.commands,
      key: (row) => row.command,
      label: (row) => row.command,
      href: (row) => this.links.search('kind:terminal.command', quote(row.command)),
      none: 'No commands',
      stats: [
        { name: 'Total', value: (row) => row.totalMs, show: (row) => duration(row.totalMs) },
        { name: 'Runs', value: (row) => row.count, show: (row) => count(row.count) },
        {
          name: 'Failed',
          value: (row) => share(row.failures, row.count),
          show: (row) => percent(share(row.failures, row.count) * 100),
          tone: (row) => toneOf(row.failures, row.count),
          href: (row) => this.links.search('status:failed', 'kind:terminal.command', quote(row.command)),
        },
        { name: 'Mean', value: (row) => row.meanMs, show: (row) => duration(row.meanMs) },
      ],
    };
  }

  get models(): StatTableSpec<UsageBucket> {
    return this.usage('Models', 'Model', 'models', 'model', (key) => agents.modelName(key), 'No responses');
  }

  get projects(): StatTableSpec<UsageBucket> {
    return this.usage('Projects', 'Project', 'projects', 'project', (key) => this.projectName(key), 'No projects');
  }

  get people(): StatTableSpec<UsageBucket> {
    return this.usage('People', 'Person', 'people', 'owner', (key) => key, 'No people');
  }

  get machines(): StatTableSpec<UsageBucket> {
    return this.usage('Machines', 'Machine', 'machines', 'machine', (key) => key, 'No machines');
  }

  get agents(): StatTableSpec<UsageBucket> {
    return {
      ...this.usage('Agents', 'Agent', 'agents', 'agent', (key) => agents.name(key), 'No agents'),
      agent: (row) => row.key,
    };
  }

  get agentTypes(): StatTableSpec<AgentStat> {
    const type = (row: AgentStat) => `agent:${quote(row.agentType)}`;
    return {
      title: 'Agent types',
      name: 'Type',
      rows: this.data.types,
      past: this.past?.types,
      key: (row) => row.agentType,
      label: (row) => row.agentType,
      href: (row) => this.links.search(type(row)),
      none: 'No agents',
      stats: [
        { name: 'Tasks', value: (row) => row.tasks, show: (row) => count(row.tasks) },
        { name: 'Calls', value: (row) => row.toolCalls, show: (row) => count(row.toolCalls) },
        failures(
          (row) => row.toolCalls,
          (row) => this.links.search('status:failed', type(row)),
        ),
        {
          name: 'Run time',
          hint: 'first to last event of each task',
          value: (row) => row.runMs,
          show: (row) => duration(row.runMs),
          tone: dim,
        },
        costStat((row) => row.usage, cost),
      ],
    };
  }

  get loops(): StatTableSpec<Loop> {
    const withinMs = (row: Loop) => Date.parse(row.lastAt) - Date.parse(row.firstAt);
    return {
      title: 'Loops',
      name: 'Repeated calls',
      rows: this.data.loops,
      past: this.past?.loops,
      same: (row) => row.title,
      key: (row) => taskKey({ id: row.lastId, owner: row.owner }),
      label: (row) => row.title,
      href: (row) => taskUrl(row.taskId, { owner: row.owner, event: row.lastId }),
      none: 'No repeated calls',
      stats: [
        { name: 'Times', value: (row) => row.count, show: (row) => count(row.count) },
        failures((row) => row.count),
        { name: 'Within', value: withinMs, show: (row) => duration(withinMs(row)), tone: dim },
      ],
    };
  }

  get files(): StatTableSpec<FileStat> {
    return {
      title: 'Hot files',
      name: 'File',
      mono: true,
      rows: this.data.files,
      past: this.past?.files,
      key: (row) => row.path,
      label: ({ path, project }) =>
        path.startsWith(`${project}/`) ? `${path.slice(project.length + 1)} · ${this.projectName(project)}` : path,
      href: (row) => this.links.search(quote(row.path)),
      none: 'No frequently used files',
      stats: [
        { name: 'Changed', value: (row) => row.changes, show: (row) => count(row.changes) },
        { name: 'Read', value: (row) => row.reads, show: (row) => count(row.reads) },
      ],
    };
  }

  get mcp(): StatTableSpec<McpStat> {
    const tool = (row: McpStat) => `tool:${quote(`mcp__${row.server}__${row.tool}`)}`;
    return {
      title: 'MCP',
      name: 'Server and tool',
      rows: this.data.mcp,
      past: this.past?.mcp,
      key: (row) => `${row.server} ${row.tool}`,
      label: (row) => `${row.server} · ${row.tool}`,
      href: (row) => this.links.search(tool(row)),
      none: 'No MCP calls',
      stats: [
        calls(),
        failures(
          (row) => row.count,
          (row) => this.links.search('status:failed', tool(row)),
        ),
        { name: 'Total', value: (row) => row.totalMs, show: (row) => duration(row.totalMs) },
      ],
    };
  }

  get skills(): StatTableSpec<SkillStat> {
    return {
      title: 'Skills',
      name: 'Skill',
      rows: this.data.skills,
      past: this.past?.skills,
      key: (row) => row.skill,
      label: (row) => row.skill,
      href: (row) => this.links.search('tool:Skill', quote(row.skill)),
      none: 'No skills used',
      stats: [
        { name: 'Uses', value: (row) => row.count, show: (row) => count(row.count) },
        {
          ...costStat((row: SkillStat) => row.usage, cost),
          hint: 'cost of responses from its activation to the end of the turn',
        },
        {
          name: 'Share',
          hint: 'share of the total cost',
          value: (row) => row.costShare,
          show: (row) => (row.costShare === undefined ? '' : percent(row.costShare * 100)),
          tone: dim,
        },
      ],
    };
  }

  /** A table of tokens and cost; each row opens the tasks with its key. */
  private usage(
    title: string,
    name: string,
    list: 'models' | 'projects' | 'people' | 'machines' | 'agents',
    parameter: string,
    labelOf: (key: string) => string,
    none: string,
  ): StatTableSpec<UsageBucket> {
    return {
      title,
      name,
      rows: this.data[list],
      past: this.past?.[list],
      key: (row) => row.key,
      label: (row) => row.label ?? labelOf(row.key),
      href: (row) => this.links.tasks({ [parameter]: row.key }),
      none,
      stats: USAGE_STATS,
    };
  }
}
