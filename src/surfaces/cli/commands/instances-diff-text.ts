import type { AnswerTo } from '../call.ts';
import { type TableShape, table, withoutPaint } from '../output.ts';

type Diff = AnswerTo<'instances.diff'>;
type DiffFile = NonNullable<Diff['file']>;

const WHERE: Record<Diff['of'], string> = {
  worktree: 'in its worktree',
  branch: 'on its branch (its worktree was removed)',
  backup: 'in the backup of its worktree',
};
const FILES: TableShape = {
  head: ['ADDED', 'REMOVED', 'CHANGE', 'FILE'],
  narrow: [
    ['FILE', 30],
    ['CHANGE', 10],
  ],
};
const SIGNS: Record<DiffFile['lines'][number]['kind'], string> = { hunk: '', context: ' ', added: '+', removed: '-', note: '\\ ' };

/** A tab or a line break in a file name would break the table. */
const inOneLine = (text: string): string => withoutPaint(text).replaceAll(/\s/g, ' ');

export function filesLines({ instance_id, of, base_branch, from, files, total, added, removed, uncommitted }: Diff, columns?: number): string {
  const where = `${WHERE[of]}, against ${inOneLine(base_branch)} at ${from.slice(0, 12)}`;
  if (total === 0) return `${instance_id} has no changes ${where}.`;
  const rows = files.map((file) => [
    file.added === null ? '—' : `+${file.added}`,
    file.removed === null ? '—' : `-${file.removed}`,
    `${file.change}${file.binary ? ', binary' : ''}${file.uncommitted ? ', not committed' : ''}`,
    inOneLine(file.before === null ? file.path : `${file.before} -> ${file.path}`),
  ]);
  const more = total > files.length ? `\n(the first ${files.length} of ${total})` : '';
  const head = `${total} file(s), +${added} -${removed}, ${uncommitted} not committed: ${where}`;
  return `${head}\n${table(FILES, rows, columns)}${more}`;
}

export function fileLines(file: DiffFile): string {
  if (file.total_lines === null) return `${inOneLine(file.path)} has too many changes to show.`;
  if (file.lines.length === 0) return `${inOneLine(file.path)}: ${file.change}${file.binary ? ', binary' : ''}, no lines to show.`;
  return withoutPaint(file.lines.map(({ kind, text, cut }) => `${SIGNS[kind]}${text}${cut > 0 ? ` (${cut} characters more)` : ''}`).join('\n'));
}
