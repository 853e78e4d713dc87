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

/** In the order in which they are read; whatever else a role has put there comes after them. */
const LISTS = [
  ['files_modified', 'Files'],
  ['endpoints', 'Endpoints'],
  ['data_shapes', 'Shapes'],
  ['assumptions', 'Assumptions'],
  ['todos', 'To do'],
  ['notes', 'Notes'],
] as const;
/** They say whose handoff it is: that stands above. */
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

/** Of a handoff, what each part says; with the one before, what is new in it and what is gone. */
export function handoffParts(after: Payload, before: Payload | undefined): HandoffPart[] {
  const own = [...new Set([...Object.keys(after), ...Object.keys(before ?? {})])].filter((name) => !HEAD.has(name));
  const named = [...LISTS, ...own.map((name) => [name, name] as const)];
  return named.map(([name, title]) => {
    const now = linesOf(after, name);
    return { title, lines: before === undefined ? now.map((text) => ({ text, change: 'same' })) : lineChanges(linesOf(before, name), now) };
  });
}

/** Each as often as it stands there: one of two that are alike may have gone. */
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
