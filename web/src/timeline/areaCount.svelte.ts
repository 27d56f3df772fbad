/** Counts the calls of the selected time by tool, page by page: an area may hold more calls than one answer does. */
import { api, toProblem, type ItemRef, type Problem } from '../api/client';
import { live } from '../app/live.svelte';
import { ToolTally, type ToolLine } from '../layout/percentiles';
import type { Bar } from './bars';
import { earliestStart, selectCalls } from './selection';
import type { Area } from './stage.svelte';

export class AreaCount {
  /** The counts so far. Those of the previous area stay until there are new ones, so that a drag does not flicker. */
  counted = $state.raw<{ lines: ToolLine[]; calls: number; complete: boolean }>();
  problem = $state.raw<Problem>();
  readonly lines = $derived(this.counted?.lines ?? []);

  async load(ref: ItemRef, bars: readonly Bar[], area: Area, signal: AbortSignal): Promise<void> {
    const tally = new ToolTally();
    const since = new Date(earliestStart(bars, area)).toISOString();
    const until = new Date(area.to).toISOString();
    try {
      for await (const page of api.timelinePages(ref, { tree: true, since, until }, signal)) {
        if (signal.aborted) return;
        tally.add(selectCalls(page.items, area, live.edge));
        this.counted = { lines: tally.lines(), calls: tally.count, complete: page.nextCursor === undefined };
      }
      this.problem = undefined;
    } catch (error) {
      if (!signal.aborted) this.problem = toProblem(error);
    }
  }

  clear(): void {
    this.counted = undefined;
  }
}

// Not JSON: its escaped quote would end the cell in a spreadsheet. Names of tools come from agents and may hold any.
const quoteCsv = (text: string) => `"${text.replaceAll('"', '""')}"`;

/** The lines as CSV. */
export const linesAsCsv = (lines: readonly ToolLine[]): string =>
  [
    'tool,count,failures,p50Ms,p95Ms,maxMs,inSelectionMs',
    ...lines.map(({ tool, count, failures, p50Ms, p95Ms, maxMs, totalMs }) =>
      [quoteCsv(tool), count, failures, p50Ms ?? '', p95Ms ?? '', maxMs ?? '', totalMs].join(','),
    ),
  ].join('\n');

/** The search for the calls of a tool. */
export const toolChip = (tool: string): string => `tool:${/\s/.test(tool) ? `"${tool.replaceAll('"', '')}"` : tool}`;
