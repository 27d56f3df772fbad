/** The keys of the timeline. */
import type { Binding } from '../app/keys.svelte';
import { preferences } from '../app/preferences.svelte';
import type { LaneBoard } from './laneBoard.svelte';
import type { Stage } from './stage.svelte';

const group = 'Timeline';
const ZOOM = 0.7;

/** Where a key zooms: at the pointer if it is over the timeline, else in the middle. */
export const zoomAnchor = ({ axis, view, cursor }: Pick<Stage, 'axis' | 'view' | 'cursor'>): number =>
  cursor === undefined ? 0.5 : Math.min(Math.max((axis.toU(cursor) - view.u0) / (view.u1 - view.u0), 0), 1);

export function timelineKeys(board: LaneBoard, stage: Stage): Binding[] {
  const zoomIn = () => stage.zoom(zoomAnchor(stage), ZOOM);
  const zoomOut = () => stage.zoom(zoomAnchor(stage), 1 / ZOOM);
  const foldIdle = () => preferences.update({ fold: !preferences.fold });
  return [
    { keys: 'w', label: 'Zoom in', group, run: zoomIn },
    { keys: '+', label: 'Zoom in', group, run: zoomIn },
    { keys: 's', label: 'Zoom out', group, run: zoomOut },
    { keys: '-', label: 'Zoom out', group, run: zoomOut },
    { keys: 'a', label: 'Earlier', group, run: () => stage.pan(-0.2) },
    { keys: 'ArrowLeft', label: 'Earlier', group, run: () => stage.pan(-0.2) },
    { keys: 'd', label: 'Later', group, run: () => stage.pan(0.2) },
    { keys: 'ArrowRight', label: 'Later', group, run: () => stage.pan(0.2) },
    { keys: 'Shift+ArrowLeft', label: 'Page earlier', group, run: () => stage.pan(-0.9) },
    { keys: 'Shift+ArrowRight', label: 'Page later', group, run: () => stage.pan(0.9) },
    { keys: '0', label: 'Fit the whole task', group, run: () => stage.all() },
    { keys: 'f', label: 'Fit the selection', group, run: () => board.frameSelection() },
    { keys: 'l', label: 'Follow live', group, run: () => board.follow() },
    { keys: 'z', label: 'Collapse idle time', group, run: foldIdle },
    { keys: 'm', label: 'Select the visible range', group, run: () => board.selectVisible() },
    { keys: '.', label: 'Next event in lane', group, run: () => board.selectNeighbour(1) },
    { keys: ',', label: 'Previous event in lane', group, run: () => board.selectNeighbour(-1) },
    { keys: ']', label: 'Expand all subagents', group, run: () => board.expandAll() },
    { keys: '[', label: 'Collapse all subagents', group, run: () => board.collapseAll() },
    { keys: 'p', label: 'Pin the selected lane', group, run: () => board.pinSelection() },
  ];
}
