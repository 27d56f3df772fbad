/**
 * The answers of the API by the names that the pages use. The generated types are the description of the server; only
 * what it cannot express is more precise here.
 */
import type { components } from './generated/schema';

/** The described fields of an object that may hold others too. */
type Described<T> = { [K in keyof T as string extends K ? never : K]: T[K] };
type FilledFields<T> = { [K in keyof T]: Filled<Exclude<T[K], null>> };

/**
 * The description calls optional fields nullable; on the wire an absent field is left out, so `null` never comes. An
 * object without described fields has values of any type.
 *
 * Of an object with described and other fields only the described ones stay: with an index any word would be a field,
 * and a metadata key that the server renames would go on compiling.
 */
export type Filled<T> = T extends (infer U)[]
  ? Filled<U>[]
  : T extends object
    ? string extends keyof T
      ? [keyof Described<T>] extends [never]
        ? [T[keyof T]] extends [never]
          ? Record<string, unknown>
          : FilledFields<T>
        : FilledFields<Described<T>>
      : FilledFields<T>
    : T;
type Schemas = { [Name in keyof components['schemas']]: Filled<components['schemas'][Name]> };

export interface Page<T> {
  items: T[];
  nextCursor?: string;
}

/** The metadata of an event by its registered keys. Code that shows keys it does not know lists its entries. */
export type Metadata = Schemas['EventMetadata'];
export type MetadataKey = keyof Metadata;

export type ActivityBucket = Schemas['ActivityBucket'];
export type AgentStat = Schemas['AgentStat'];
export type Attention = Schemas['Attention'];
export type Backtest = Schemas['Backtest'];
export type CommandRun = Schemas['CommandRun'];
export type CommandStat = Schemas['CommandStat'];
export type Compaction = Omit<Schemas['Compaction'], 'before' | 'after'> & {
  before: CompactionSide;
  after: CompactionSide;
};
export type CompactionItem = Schemas['CompactionItem'];
export type CompactionSide = Omit<Schemas['CompactionSide'], 'pieces'> & { pieces: Record<string, number> };
export type ContextPoint = Schemas['ContextPoint'];
export type DeadLetter = Schemas['DeadLetter'];
export type Exploration = Schemas['Exploration'];
export type FailureStat = Schemas['FailureStat'];
export type FileStat = Schemas['FileStat'];
export type FileUse = Schemas['FileUse'];
export type LaneBin = Schemas['LaneBin'];
export type LaneStrip = Schemas['LaneStrip'];
export type Limit = Schemas['Limit'];
export type Loop = Schemas['Loop'];
export type McpStat = Schemas['McpStat'];
export type Permission = Schemas['Permission'];
export type Policies = Omit<Schemas['Policies'], 'items' | 'past'> & { items: Policy[]; past: RuleStat[] };
export type Policy = Schemas['ActiveRule'] & { counts: RuleStat };
export type PolicyFile = Schemas['PolicyFile'];
export type Residual = Schemas['Residual'];
export type RuleDecision = Schemas['RuleDecision'];
export type RuleReport = Schemas['RuleReport'];
export type RuleStat = Omit<Schemas['RuleStat'], 'outcomes'> & { outcomes: Record<string, number> };
export type Settings = Schemas['Settings'];
export type SkillStat = Schemas['SkillStat'];
export type SupportedAgent = Schemas['SupportedAgent'];
export type Task = Schemas['Task'];
export type TaskSummary = Schemas['TaskSummary'];
export type Todo = Schemas['Todo'];
export type ToolCall = Schemas['ToolCall'];
export type ToolStat = Schemas['ToolStat'];
export type TreeNode = Schemas['TreeNode'];
export type Turn = Schemas['Turn'];
export type UsageBlock = Schemas['UsageBlock'];
export type UsageBucket = Schemas['UsageBucket'];
export type UsageView = Schemas['UsageView'];
export type WebLookup = Schemas['WebLookup'];

export type Row = Schemas['Row'];
export type SourceEntry = EventDetail['entries'][number];
export type EventDetail = Schemas['EventDetail'] & { fieldChannels: Record<string, string> };
export type Question = Schemas['Question'];
export type Hit = Schemas['Hit'];
export type LaneBins = Omit<Schemas['LaneBins'], 'gaps'> & { gaps: [number, number][] };
export type Health = Omit<Schemas['Health'], 'spool'> & {
  spool: Omit<Schemas['SpoolHealth'], 'lost'> & { lost: Record<string, number> };
};
