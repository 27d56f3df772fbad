/** The pointer and the wheel on the timeline: zoom, pan, scroll, select an area, pick a bar. */
import type { Wheel } from '../app/preferences.svelte';
import { wheelFactor } from '../layout/view';
import { hitTest } from './hitTest';
import type { LaneBoard, TimelineProps } from './laneBoard.svelte';
import { rowsBetween } from './lanes';
import { RULER_PX } from './scene';

interface Drag {
  kind: 'pan' | 'area';
  x: number;
  y: number;
  u0: number;
  u1: number;
  top: number;
  t: number;
  moved: boolean;
}

/** A pointer that moves less than this between down and up has clicked. */
const CLICK_PX = 4;
/** A pinch of a touchpad comes as a wheel with Ctrl and small steps; without more weight it would hardly zoom. */
const PINCH_WEIGHT = 4;
const PINCH_STEP = 50;

export class Gestures {
  private drag: Drag | undefined;
  private readonly board: LaneBoard;
  private readonly props: TimelineProps;

  constructor(board: LaneBoard, props: TimelineProps) {
    this.board = board;
    this.props = props;
  }

  private get width(): number {
    return Math.max(this.props.stage.width, 1);
  }

  private timeAt(x: number): number {
    const { axis, view } = this.props.stage;
    return axis.toT(view.u0 + (x / this.width) * (view.u1 - view.u0));
  }

  /** Zooms, pans or scrolls; the page behind never scrolls with it. */
  wheel(event: WheelEvent, action: Wheel): void {
    const { stage } = this.props;
    const { deltaX, deltaY, deltaMode, ctrlKey, metaKey, shiftKey } = event;
    event.preventDefault();
    if (ctrlKey || metaKey || (action === 'zoom' && !shiftKey && Math.abs(deltaY) >= Math.abs(deltaX))) {
      const weight = ctrlKey && deltaMode === 0 && Math.abs(deltaY) < PINCH_STEP ? PINCH_WEIGHT : 1;
      stage.following = false;
      stage.zoom(event.offsetX / this.width, wheelFactor(deltaY * weight, deltaMode));
    } else if (shiftKey && action === 'zoom' && deltaX === 0) this.board.scrollTo(this.board.scrollTop + deltaY);
    else if (Math.abs(deltaX) > Math.abs(deltaY) || shiftKey) stage.pan((deltaX || deltaY) / this.width);
    else this.board.scrollTo(this.board.scrollTop + deltaY);
  }

  /** Begins a drag; returns whether there is one. */
  down(event: PointerEvent): boolean {
    if (event.button !== 0) return false;
    const { stage } = this.props;
    this.drag = {
      kind: event.shiftKey || event.offsetY < RULER_PX ? 'area' : 'pan',
      x: event.offsetX,
      y: event.offsetY,
      u0: stage.view.u0,
      u1: stage.view.u1,
      top: this.board.scrollTop,
      t: this.timeAt(event.offsetX),
      moved: false,
    };
    return true;
  }

  move({ offsetX: x, offsetY: y }: PointerEvent): void {
    const { stage, source } = this.props;
    const { board, drag } = this;
    stage.cursor = this.timeAt(x);
    if (!drag) {
      board.hover(x, y);
      return;
    }
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < CLICK_PX) return;
    drag.moved = true;
    board.hovered = undefined;
    if (drag.kind === 'area') {
      const t = this.timeAt(x);
      const onRows = (at: number) => at - RULER_PX + board.scrollTop;
      stage.area = {
        from: Math.min(drag.t, t),
        to: Math.max(drag.t, t),
        // An area that was begun on the ruler is one of time alone.
        rows: drag.y < RULER_PX ? undefined : rowsBetween(board.rows, source.tree, onRows(drag.y), onRows(y)),
      };
    } else {
      stage.following = false;
      const by = ((x - drag.x) / this.width) * (drag.u1 - drag.u0);
      stage.show({ u0: drag.u0 - by, u1: drag.u1 - by });
      board.scrollTo(drag.top - (y - drag.y));
    }
  }

  up(event: PointerEvent): void {
    const { stage, onselect } = this.props;
    const before = this.drag;
    this.drag = undefined;
    if (!before || before.moved) return;
    if (before.kind === 'area') {
      stage.area = undefined;
      return;
    }
    const found = hitTest(this.board.scene(), event.offsetX, event.offsetY);
    if (!found) onselect(undefined);
    else if (found.bar.id !== undefined && found.count === 1) onselect(found.bar.id);
    else stage.frame(found.bar.start, found.last.end);
  }

  /** Zooms to what was hit. */
  doubleClick(event: MouseEvent): void {
    const found = hitTest(this.board.scene(), event.offsetX, event.offsetY);
    if (found) this.props.stage.frame(found.bar.start, found.last.end);
  }

  cancel(): void {
    this.drag = undefined;
  }

  leave(): void {
    this.props.stage.cursor = undefined;
    this.board.hovered = undefined;
  }
}
