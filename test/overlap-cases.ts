import type { Action } from '../src/features/team/overlap/divergence.ts';
import data from './overlap-cases.json' with { type: 'json' };

export interface LabelledTask {
  readonly title: string;
  readonly task_type: string;
  readonly scope?: string;
  readonly description?: string;
  readonly action?: Action;
  readonly component?: string;
  readonly target_files?: readonly string[];
}

/** Two tasks with texts as agents write them, and whether they describe the same work. */
export interface LabelledPair {
  readonly kind: string;
  readonly duplicate: boolean;
  readonly half: 'fit' | 'test';
  readonly a: LabelledTask;
  readonly b: LabelledTask;
}

export const CASES = data as readonly LabelledPair[];
