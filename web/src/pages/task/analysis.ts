/**
 * What a command does, as the server found it: read with care, because what a later version says may look different.
 */
export interface Step {
  raw: string;
  operation: string;
  effect: string;
  targets: string[];
}

/** Shown where a step may fail without the whole: in a pipe, before `;` or `||`, in the background. */
export const MASKED_HINT = 'exit code may hide a failure';

export interface Analysis {
  effect: string;
  confidence: string;
  failureMasked: boolean;
  steps: Step[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown) => (typeof value === 'string' ? value : '');

/** A target is a name, or an object that has one. */
const target = (value: unknown): string =>
  isObject(value)
    ? text(value['value']) || text(value['path']) || text(value['name']) || text(value['raw'])
    : text(value);

export function readAnalysis(value: unknown): Analysis | undefined {
  if (!isObject(value) || !Array.isArray(value['steps'])) return undefined;
  const steps = value['steps'].filter(isObject).map((step): Step => ({
    raw: text(step['raw']),
    operation: text(step['operation']),
    effect: text(step['effect']),
    targets: Array.isArray(step['targets']) ? step['targets'].map(target).filter(Boolean) : [],
  }));
  return {
    effect: text(value['overallEffect']),
    confidence: text(value['confidence']),
    failureMasked: value['failureMasked'] === true,
    steps,
  };
}
