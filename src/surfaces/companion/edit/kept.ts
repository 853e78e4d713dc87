import { parse } from 'smol-toml';
import type { ConfigEntry } from '../../../clients/client.ts';
import { counted } from '../../cli/output.ts';
import { hooksIn, isOurs, jsonIn } from './json.ts';

/** What else is in the file, for people: `your 1 hook kept`. */
export function keptIn(text: string | undefined, entries: readonly ConfigEntry[], file: string): string {
  if (text === undefined || entries.some(({ kind }) => kind === 'whole')) return '';
  const value = (entries.some(({ kind }) => kind === 'table') ? parse(text.replace(/^\uFEFF/, '')) : (jsonIn(text, file) ?? {})) as Record<string, unknown>;
  const [place] = entries.flatMap((entry) => ((entry.kind === 'member' || entry.kind === 'table') && entry.at.length === 2 ? [entry.at] : []));
  const [hook] = entries.flatMap((entry) => (entry.kind === 'item' ? [entry] : []));
  const servers = place ? Object.keys(recordIn(value[place[0] ?? ''])).filter((name) => name !== place[1]).length : 0;
  const hooks = hook
    ? Object.values(recordIn(value.hooks))
        .flat()
        .flatMap(hooksIn)
        .filter((each) => !isOurs(each, hook.ours)).length
    : 0;
  const kept = [...counts(servers, 'server'), ...counts(hooks, 'hook')];
  return kept.length > 0 ? `your ${kept.join(' and ')} kept` : '';
}

const recordIn = (value: unknown): Record<string, unknown> => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {});
const counts = (number: number, what: string): string[] => (number > 0 ? [counted(number, what)] : []);
