/** Drags on the overview: move the window, pull one of its edges, or draw a new one. */
import type { View } from '../layout/view';
import type { Stage } from './stage.svelte';

type Kind = 'left' | 'right' | 'move' | 'brush';

/** So near an edge it is the edge that is taken. */
const EDGE_PX = 6;
/** A pointer that moves less than this has clicked. */
const CLICK_PX = 3;
/** The window keeps a width: an edge that is pulled over the other one would turn it inside out. */
const NARROWEST = 20;

export class OverviewBrush {
  private drag: { kind: Kind; at: number; u0: number; u1: number } | undefined;
  private readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  /** Begins at a place of the strip; `perU` says how many pixels a unit of the axis has. */
  begin(x: number, whole: View, perU: number): void {
    const { stage } = this;
    const [left, right] = [(stage.view.u0 - whole.u0) * perU, (stage.view.u1 - whole.u0) * perU];
    const kind: Kind = stage.whole
      ? 'brush'
      : Math.abs(x - left) < EDGE_PX
        ? 'left'
        : Math.abs(x - right) < EDGE_PX
          ? 'right'
          : x > left && x < right
            ? 'move'
            : 'brush';
    this.drag = { kind, at: whole.u0 + x / perU, u0: stage.view.u0, u1: stage.view.u1 };
    stage.following = false;
  }

  move(x: number, whole: View, perU: number): void {
    const { drag, stage } = this;
    const u = whole.u0 + x / perU;
    stage.cursor = stage.axis.toT(u);
    if (!drag) return;
    if (drag.kind === 'move') stage.show({ u0: drag.u0 + u - drag.at, u1: drag.u1 + u - drag.at });
    else if (drag.kind === 'left') stage.show({ u0: Math.min(u, drag.u1 - NARROWEST), u1: drag.u1 });
    else if (drag.kind === 'right') stage.show({ u0: drag.u0, u1: Math.max(u, drag.u0 + NARROWEST) });
    else if (Math.abs(u - drag.at) * perU > CLICK_PX)
      stage.show({ u0: Math.min(u, drag.at), u1: Math.max(u, drag.at) });
  }

  /** Ends; a click beside the window brings the window there, as wide as it was. */
  end(x: number, whole: View, perU: number): void {
    const { drag, stage } = this;
    this.drag = undefined;
    if (drag?.kind !== 'brush' || stage.whole) return;
    if (Math.abs(whole.u0 + x / perU - drag.at) * perU > CLICK_PX) return;
    const half = (drag.u1 - drag.u0) / 2;
    stage.show({ u0: drag.at - half, u1: drag.at + half });
  }

  cancel(): void {
    this.drag = undefined;
  }
}
