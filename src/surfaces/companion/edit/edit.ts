import { parse } from 'smol-toml';
import type { ConfigEntry, WholeEntry } from '../../../clients/client.ts';
import { recordIn } from '../../../wire/json.ts';
import { CliError } from '../../cli/command.ts';
import { counted } from '../../cli/output.ts';
import type { Editor, EntryState, WrittenEntry } from './entry.ts';
import { hooksIn, isOurs, item, jsonIn, member } from './json.ts';
import { table } from './table.ts';

const whole: Editor<WholeEntry> = {
  state(text, entry, file) {
    if (text === '') return 'missing';
    if (isSame(text, entry) || entry.isDefault) return 'good';
    if (!hasMark(text, entry)) throw notOurs(file);
    return 'stale';
  },
  put: (_text, entry) => ({ text: entry.text }),
  take: (text, { entry }) => (isSame(text, entry) ? '' : undefined),
};

/** Git may write the ends of lines as Windows has them. */
const isSame = (text: string, entry: WholeEntry): boolean => text.replaceAll('\r\n', '\n') === entry.text;

/** Others put lines on top, such as those that keep linters away. */
const MARK_WITHIN = 5;

/** The first line of ours, which every version has. */
function hasMark(text: string, entry: WholeEntry): boolean {
  const [mark] = entry.text.split('\n', 1);
  return text.split('\n', MARK_WITHIN).some((line) => line.trim() === mark);
}

const notOurs = (file: string): CliError =>
  new CliError('NOT_OURS', `${file} was not written by setup, which would replace it. Nothing was changed.`, 'Move it away; then run this again.');

const EDITORS: { readonly [K in ConfigEntry['kind']]: Editor<Extract<ConfigEntry, { kind: K }>> } = { member, item, table, whole };

const editorOf = (entry: ConfigEntry) => EDITORS[entry.kind] as Editor<ConfigEntry>;

export const stateOf = (text: string, entry: ConfigEntry, file: string): EntryState => editorOf(entry).state(text, entry, file);

/** With the entry in it; nothing is changed, or written down, where it stands there already. */
export function put(text: string, entry: ConfigEntry, file: string): { readonly text: string; readonly written?: WrittenEntry } {
  if (stateOf(text, entry, file) === 'good') return { text };
  const { text: after, ...undo } = editorOf(entry).put(text, entry, file);
  return { text: after, written: { entry, ...undo } };
}

/** Without the entries, the last first; those that were changed by hand stay, and are named. */
export function takeAll(text: string, written: readonly WrittenEntry[], file: string): { readonly text: string; readonly stays: readonly string[] } {
  const stays: string[] = [];
  const without = written.toReversed().reduce((so, each) => {
    const after = editorOf(each.entry).take(so, each, file);
    if (after === undefined) stays.push(`the ${each.entry.what} was changed by hand`);
    return after ?? so;
  }, text);
  return { text: without, stays };
}

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

const counts = (number: number, what: string): string[] => (number > 0 ? [counted(number, what)] : []);
