import type { DependencyOutcome, PriorTask, RecoveredCheckpoint, SiblingTask } from './contract.ts';
import { brief, cutText, MARK } from './cut.ts';
import { type ContextEntry, entryOf } from './parts.ts';
import type { Tokenizer } from './tokens.ts';

/** The length of an outcome's summary. */
const OUTCOME_CHARACTERS = 400;
const BRIEF_CHARACTERS = 160;

/** Measures list entries as JSON with a comma. Stops counting once an entry cannot fit. */
export interface Scale {
  readonly tokens: Tokenizer;
  readonly max: number;
}

const sizer =
  ({ tokens, max }: Scale) =>
  (value: unknown): number =>
    tokens.count(`${JSON.stringify(value)},`, max);

/** Newer checkpoints are included in full if there is room. For older ones the summary is enough. */
export function checkpointEntry(scale: Scale, whole: RecoveredCheckpoint): ContextEntry<RecoveredCheckpoint> {
  const size = sizer(scale);
  const isBare = whole.detail === null && whole.files_changed.length === 0;
  const bare = isBare ? whole : { ...whole, detail: null, files_changed: [] };
  return entryOf(size, whole, bare, (room, bareSize) => {
    if (room >= bareSize) return undefined;
    const summary = cutText(whole.summary, room - size({ ...bare, summary: '' }), scale.tokens);
    return summary === '' ? undefined : { ...bare, summary };
  });
}

export function bareCheckpointEntry(scale: Scale, bare: RecoveredCheckpoint, isWhole: boolean): ContextEntry<RecoveredCheckpoint> {
  const entry = entryOf(sizer(scale), bare, bare);
  return isWhole ? entry : unread(entry);
}

/** An entry of which only a part was read, because more cannot fit. It is never included as whole. */
const unread = <T extends object>({ bare, bareSize, cut }: ContextEntry<T>): ContextEntry<T> => ({
  whole: { ...bare },
  wholeSize: Number.POSITIVE_INFINITY,
  bare,
  bareSize,
  cut,
});

/** A text of at most this length is kept, because a mark in its place would save nothing. */
const FEW_CHARACTERS = 12;

/** An entry with one text that can be cut. `more` is the whole entry, if the whole has further fields. */
function textEntry<T>(scale: Scale, text: string, withText: (text: string) => T, more?: T): ContextEntry<T> {
  const size = sizer(scale);
  const whole = more ?? withText(text);
  const bare = text.length <= FEW_CHARACTERS ? withText(text) : withText(MARK);
  return entryOf(size, whole, JSON.stringify(bare) === JSON.stringify(whole) ? whole : bare, (room, bareSize) => {
    const cut = room > bareSize ? cutText(text, room - size(withText('')), scale.tokens) : '';
    return cut === '' || (cut === text && more === undefined) ? undefined : withText(cut);
  });
}

type PriorFull = Required<PriorTask>;

/** `unread` means that the task was requested in full, but only the part for its summary was read. */
export function priorEntry(scale: Scale, { id, name, outcome, status, ...more }: PriorFull, extent: 'summary' | 'full' | 'unread'): ContextEntry<PriorTask> {
  const withText = (text: string): PriorTask => ({ id, name, outcome: text, status });
  const summary = brief(outcome, OUTCOME_CHARACTERS);
  if (extent === 'unread') return unread(textEntry(scale, summary, withText, withText(outcome)));
  return textEntry(scale, summary, withText, extent === 'full' ? { ...withText(outcome), ...more } : undefined);
}

export const siblingEntry = (scale: Scale, { brief_summary = '', ...task }: SiblingTask): ContextEntry<SiblingTask> =>
  entryOf(sizer(scale), brief_summary === '' ? task : { ...task, brief_summary: brief(brief_summary, BRIEF_CHARACTERS) }, task);

export function dependencyEntry(scale: Scale, { task_id, task_name, outcome, status }: DependencyOutcome, briefly = false): ContextEntry<DependencyOutcome> {
  const withText = (text: string): DependencyOutcome => ({ task_id, task_name, outcome: text, status });
  return briefly ? unread(textEntry(scale, outcome, withText, withText(outcome))) : textEntry(scale, outcome, withText);
}
