/** The lane of a call, which has the colour of its bar on the timeline. */
import type { ToolCall } from '../../api/types';
import type { Bar } from '../../timeline/bars';

/**
 * Calls come without their lane; the bars of the timeline have it. Of a bar that stands for several calls only the tool
 * is known, and a tool stands in one lane almost always: its first lane is taken where the call itself has no bar.
 */
export class CallLanes {
  private readonly byId = new Map<string, string>();
  private readonly byTool = new Map<string, string>();

  constructor(bars: Iterable<Pick<Bar, 'id' | 'tool' | 'lane'>>) {
    for (const { id, tool, lane } of bars) {
      if (id !== undefined) this.byId.set(id, lane);
      if (tool !== undefined && !this.byTool.has(tool)) this.byTool.set(tool, lane);
    }
  }

  /** Returns the lane, or nothing where no bar knows the call or its tool. */
  of({ id, toolName }: Pick<ToolCall, 'id' | 'toolName'>): string | undefined {
    return this.byId.get(id) ?? this.byTool.get(toolName);
  }
}
