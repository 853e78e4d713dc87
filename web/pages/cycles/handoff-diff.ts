import type { CycleHandoff } from '../../api.ts';

export type HandoffChange = 'same' | 'added' | 'gone';

export interface HandoffLine {
  readonly text: string;
  readonly change: HandoffChange;
}

export interface HandoffPart {
  readonly title: string;
  readonly lines: readonly HandoffLine[];
}

/** The known parts of a handoff, in reading order. Other parts are shown after them. */
const LISTS = [
  ['files_modified', 'Files'],
  ['endpoints', 'Endpoints'],
  ['data_shapes', 'Shapes'],
  ['assumptions', 'Assumptions'],
  ['todos', 'To do'],
  ['notes', 'Notes'],
] as const;
/** Fields that the page shows elsewhere, so they are not repeated as parts. */
const HEAD = new Set<string>(['cycle_id', 'feature', 'producer', 'consumer', ...LISTS.map(([name]) => name)]);

type Payload = CycleHandoff['payload'];

const words = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

function endpoint(value: unknown): string {
  const { method, path, ...more } = (value ?? {}) as { method?: unknown; path?: unknown };
  const rest = Object.keys(more).length > 0 ? ` ${JSON.stringify(more)}` : '';
  return `${String(method)} ${String(path)}${rest}`;
}

function linesOf(payload: Payload | undefined, name: string): string[] {
  const value = payload?.[name];
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).map(name === 'endpoints' ? endpoint : words);
}

/** Splits a handoff into its parts. If there is a previous handoff, each line is marked as new, removed or unchanged. */
export function handoffParts(after: Payload, before: Payload | undefined): HandoffPart[] {
  const own = [...new Set([...Object.keys(after), ...Object.keys(before ?? {})])].filter((name) => !HEAD.has(name));
  const named = [...LISTS, ...own.map((name) => [name, name] as const)];
  return named.map(([name, title]) => {
    const now = linesOf(after, name);
    return { title, lines: before === undefined ? now.map((text) => ({ text, change: 'same' })) : lineChanges(linesOf(before, name), now) };
  });
}

/** Compares two lists of lines. Equal lines are counted, because perhaps only one of several equal lines was removed. */
export function lineChanges(before: readonly string[], after: readonly string[]): HandoffLine[] {
  const left = new Map<string, number>();
  for (const text of before) left.set(text, (left.get(text) ?? 0) + 1);
  const now = after.map((text): HandoffLine => {
    const known = left.get(text) ?? 0;
    if (known > 0) left.set(text, known - 1);
    return { text, change: known > 0 ? 'same' : 'added' };
  });
  const gone = before.filter((text) => {
    const rest = left.get(text) ?? 0;
    if (rest > 0) left.set(text, rest - 1);
    return rest > 0;
  });
  return [...now, ...gone.map((text): HandoffLine => ({ text, change: 'gone' }))];
}
