/**
 * The state of the timeline: its rows, which agents are closed, where it is scrolled to, and what is under the pointer.
 * Drawing and pointer events are elsewhere; nothing here knows the canvas.
 */
import { live } from '../app/live.svelte';
import { byLane, type Bar } from './bars';
import { nextMatch } from './find';
import type { Finder } from './finder.svelte';
import { buildBatches, buildFlows } from './flows';
import { hitTest, type Hit } from './hitTest';
import { defaultClosed, buildRows, totalHeight } from './lanes';
import { RULER_PX, type Scene } from './scene';
import type { TimelineSource } from './source.svelte';
import type { Stage } from './stage.svelte';

export interface TimelineProps {
  source: Pick<TimelineSource, 'bars' | 'version' | 'tree' | 'ready' | 'start' | 'end'>;
  stage: Stage;
  selected?: string;
  onselect: (id: string | undefined) => void;
  running: boolean;
  /** Keys of rows that stand at the top. */
  pinned: ReadonlySet<string>;
  onpin: (key: string) => void;
  /** The text that is searched for, and its matches. */
  finder: Finder;
  find: string;
}

/** Deeper trees than this are cut: a tree with a circle in it would have no end. */
const DEEPEST = 64;

export class LaneBoard {
  scrollTop = $state(0);
  /** The height of the rows in sight, without the ruler. */
  height = $state(0);
  hovered = $state.raw<Hit & { x: number; y: number }>();
  showsTelemetry = $state(false);
  private closed = $state.raw<ReadonlySet<string>>();
  // Not reactive: `rows` reads and writes it, and would derive itself again without end.
  private readonly tracksAtLeast = new Map<string, number>();
  private readonly offsetMs = -new Date().getTimezoneOffset() * 60_000;
  private readonly props: TimelineProps;

  /** Takes the properties of the component, which stay reactive as long as they are read from this object. */
  constructor(props: TimelineProps) {
    this.props = props;
  }

  readonly bars = $derived.by(() => {
    void this.props.source.version;
    return this.props.source.bars();
  });
  /** Ids of closed agents: the default until one of them is opened or closed by hand. */
  readonly collapsed = $derived.by(() => this.closed ?? defaultClosed(this.props.source.tree));
  readonly rows = $derived.by(() => {
    const rows = buildRows(this.props.source.tree, byLane(this.bars), {
      closed: this.collapsed,
      hidden: new Set(this.showsTelemetry ? [] : ['telemetry']),
      momentMs: 1,
      tracksAtLeast: this.tracksAtLeast,
      pinned: this.props.pinned,
    });
    for (const row of rows) this.tracksAtLeast.set(row.key, row.kind === 'agent' && row.open ? 0 : row.tracks.length);
    return rows;
  });
  readonly flows = $derived.by(() => buildFlows(this.props.source.tree, this.bars));
  readonly batches = $derived.by(() => buildBatches(this.bars));
  readonly runningBars = $derived.by(() => this.bars.filter((bar) => bar.running));
  /** What the task does now, in the words of its newest running call. */
  readonly current = $derived.by(() =>
    this.props.running ? (this.runningBars.findLast(({ lane }) => lane !== 'telemetry')?.label ?? 'thinking') : '',
  );
  /** The height of all rows. */
  readonly tall = $derived.by(() => totalHeight(this.rows));
  readonly selectedBar = $derived.by(() => {
    const { selected } = this.props;
    return selected === undefined ? undefined : this.bars.find((bar) => bar.id === selected);
  });
  /** The place of the selected bar among the matches, from 1. */
  readonly matchNumber = $derived.by(
    () => this.props.finder.matches.findIndex(({ id }) => id === this.props.selected) + 1,
  );

  scene(): Scene {
    const { stage, finder, running, selected } = this.props;
    // What ran when the connection broke may have ended since: its bar ends where it was last seen.
    const now = live.state === 'lost' ? (live.lostAt ?? Date.now()) : Date.now();
    for (const bar of this.runningBars) bar.end = Math.max(now, bar.start);
    return {
      axis: stage.axis,
      view: stage.view,
      width: Math.max(stage.width, 1),
      height: this.height + RULER_PX,
      scrollTop: this.scrollTop,
      rows: this.rows,
      flows: this.flows,
      batches: this.batches,
      now,
      running,
      stale: live.state === 'lost',
      offsetMs: this.offsetMs,
      selected,
      hovered: this.hovered?.bar,
      cursorT: stage.cursor,
      area: stage.area,
      matches: finder.active ? finder.ids : undefined,
      focusTask: this.hovered?.row.kind === 'agent' ? this.hovered.row.task.id : undefined,
    };
  }

  scrollTo(top: number): void {
    this.scrollTop = Math.min(Math.max(top, 0), Math.max(this.tall - this.height, 0));
  }

  /** What is under a point of the canvas; nothing on the ruler or below the rows. */
  hover(x: number, y: number): void {
    const found = y > RULER_PX && y < this.height + RULER_PX ? hitTest(this.scene(), x, y) : undefined;
    this.hovered = found && { ...found, x, y };
  }

  /** Looks again under a pointer that rests while the picture moves below it. */
  refreshHover(): void {
    if (this.hovered) this.hover(this.hovered.x, this.hovered.y);
  }

  /** Opens or closes an agent. */
  flip(id: string): void {
    const next = new Set(this.collapsed);
    if (!next.delete(id)) next.add(id);
    this.closed = next;
  }
  expandAll(): void {
    this.closed = new Set();
  }
  collapseAll(): void {
    this.closed = new Set(this.props.source.tree.slice(1).map((node) => node.task.id));
  }
  flipAll(): void {
    if (this.collapsed.size > 0) this.expandAll();
    else this.collapseAll();
  }

  /** Selects the neighbour of the selected bar in its own lane. */
  selectNeighbour(step: 1 | -1): void {
    const { stage, onselect } = this.props;
    const at = this.selectedBar;
    const inLane = this.bars
      .filter((bar) => bar.id !== undefined && (!at || (bar.taskId === at.taskId && bar.lane === at.lane)))
      .sort((a, b) => a.start - b.start);
    const other = at ? inLane[inLane.indexOf(at) + step] : (inLane.find((bar) => bar.start >= stage.from) ?? inLane[0]);
    if (!other?.id) return;
    onselect(other.id);
    this.reveal(other);
  }

  /** Brings something into sight, in both directions, and opens the agents around it. */
  reveal({ taskId, lane, start }: Pick<Bar, 'taskId' | 'lane' | 'start'>): void {
    const { stage } = this.props;
    const at = stage.axis.toU(start);
    const half = (stage.view.u1 - stage.view.u0) / 2;
    if (start < stage.from || start > stage.to) {
      stage.following = false;
      stage.show({ u0: at - half, u1: at + half });
    }
    const hidden = this.ancestors(taskId).filter((id) => this.collapsed.has(id));
    if (hidden.length > 0) this.closed = new Set([...this.collapsed].filter((id) => !hidden.includes(id)));
    const row =
      this.rows.find((candidate) => candidate.key === `${taskId}/${lane}`) ??
      this.rows.find((candidate) => candidate.key === taskId);
    if (row && (row.top < this.scrollTop || row.top + row.height > this.scrollTop + this.height))
      this.scrollTo(row.top - this.height / 2);
  }

  private ancestors(id: string): string[] {
    const out: string[] = [];
    for (
      let at: string | undefined = id;
      at !== undefined && out.length < DEEPEST;
      at = this.props.source.tree.find(({ task }) => task.id === at)?.task.parentTaskId
    )
      out.push(at);
    return out;
  }

  /** Selects the next match of the search. */
  async selectMatch(step: 1 | -1): Promise<void> {
    const { finder, find, stage, onselect } = this.props;
    // Enter may come before the typing has rested.
    if (finder.text !== find) await finder.search(find);
    const match = nextMatch(finder.matches, this.props.selected, stage.from, step);
    if (!match) return;
    onselect(match.id);
    this.reveal(match);
  }

  /** Puts the row of the selected bar to the top, or of the one under the pointer. */
  pinSelection(): void {
    const at = this.selectedBar ?? this.hovered?.bar;
    if (at) this.props.onpin(this.rows.find((row) => row.key === `${at.taskId}/${at.lane}`)?.key ?? at.taskId);
  }

  /** Fits the selected time, else the selected bar, else the whole task. */
  frameSelection(): void {
    const { stage } = this.props;
    if (stage.area) stage.frame(stage.area.from, stage.area.to);
    else if (this.selectedBar) stage.frame(this.selectedBar.start, this.selectedBar.end);
    else stage.all();
  }

  /** Selects the part of the task that is in view. */
  selectVisible(): void {
    const { stage, source } = this.props;
    stage.area = { from: Math.max(stage.from, source.start), to: Math.min(stage.to, source.end) };
  }

  follow(): void {
    this.props.stage.following = this.props.running && !this.props.stage.following;
  }
}
