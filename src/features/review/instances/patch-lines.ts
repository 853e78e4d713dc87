import type { PatchLine } from './contract.ts';

/** Longer lines are cut, because they are usually generated and unreadable. */
const LINE_LENGTH = 2_000;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const KINDS: Record<string, PatchLine['kind']> = { '+': 'added', '-': 'removed', ' ': 'context' };

interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Returns the numbered lines of a patch for one file, without the header that git adds, and the total number of lines. */
export function patchLines(patch: string, { offset, limit }: Page): { lines: PatchLine[]; total: number } {
  const lines: PatchLine[] = [];
  let total = 0;
  // Numbers of lines that are left in the hunk. A header can look like a line of the hunk, so only these numbers tell where the hunk ends.
  let [oldLeft, newLeft, before, after] = [0, 0, 0, 0];
  const take = (kind: PatchLine['kind'], text: string, numbers: Pick<PatchLine, 'before' | 'after'>): void => {
    if (total >= offset && lines.length < limit)
      lines.push({ kind, ...numbers, text: text.slice(0, LINE_LENGTH), cut: Math.max(0, text.length - LINE_LENGTH) });
    total++;
  };
  for (const line of patch.split('\n')) {
    const kind = KINDS[line[0] ?? ''];
    if ((oldLeft > 0 || newLeft > 0) && kind) {
      const [isOld, isNew] = [kind !== 'added', kind !== 'removed'];
      take(kind, line.slice(1), { before: isOld ? before : null, after: isNew ? after : null });
      if (isOld) [before, oldLeft] = [before + 1, oldLeft - 1];
      if (isNew) [after, newLeft] = [after + 1, newLeft - 1];
      continue;
    }
    if (line.startsWith('\\ ') && total > 0) {
      take('note', line.slice(2), { before: null, after: null });
      continue;
    }
    const hunk = HUNK.exec(line);
    if (!hunk) continue;
    [before, oldLeft, after, newLeft] = [Number(hunk[1]), Number(hunk[2] ?? 1), Number(hunk[3]), Number(hunk[4] ?? 1)];
    take('hunk', line, { before: null, after: null });
  }
  return { lines, total };
}
