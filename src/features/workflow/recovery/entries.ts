import type { DependencyOutcome, PriorTask, RecoveredCheckpoint, SiblingTask } from './contract.ts';
import { brief, cutText, MARK } from './cut.ts';
import { type ContextEntry, entryOf } from './parts.ts';
import type { Tokenizer } from './tokens.ts';

/** Maximum number of characters in the summary of an outcome. */
const OUTCOME_CHARACTERS = 400;
const BRIEF_CHARACTERS = 160;

/** How list entries are measured: as JSON with a comma. Counting stops at `max`, because a larger entry cannot fit. */
export interface Scale {
  readonly tokens: Tokenizer;
  readonly max: number;
}

const sizer =
  ({ tokens, max }: Scale) =>
  (value: unknown): number =>
    tokens.count(`${JSON.stringify(value)},`, max);

/** Newer checkpoints are included in full if there is room. For older checkpoints, the summary is enough. */
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

/** Marks an entry as read only in part, because more of it cannot fit. Its size counts as infinite, so that it is never included as a whole entry. */
const unread = <T extends object>({ bare, bareSize, cut }: ContextEntry<T>): ContextEntry<T> => ({
  whole: { ...bare },
  wholeSize: Number.POSITIVE_INFINITY,
  bare,
  bareSize,
  cut,
});

/** A text of at most this length is never replaced by a mark, because the mark would not be shorter. */
const FEW_CHARACTERS = 12;

/** Creates an entry with one text that can be cut. If the whole entry has further fields, `more` is the whole entry. */
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

/** The extent `unread` means that the caller asked for the full task, but only the part for the summary was read. */
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
