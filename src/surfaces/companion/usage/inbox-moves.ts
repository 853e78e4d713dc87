import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isInbox } from './inbox.ts';

/** So many delivered files are kept beside an inbox. */
const MOST_SENT = 500;

export function keepSent(path: string): void {
  const folder = dirname(movedInto(path, 'sent'));
  // Elsewhere a folder of that name may be somebody's own.
  if (!isInbox(dirname(path))) return;
  for (const name of readdirSync(folder).sort().slice(0, -MOST_SENT)) rmSync(join(folder, name), { force: true });
}

/** Out of the way of the others, with the reason beside it. */
export function keepRejected(path: string, reason: string): void {
  const beside = `${movedInto(path, 'rejected')}.reason`;
  rmSync(beside, { force: true });
  // Anew: through a link that the repository has there it would go into any file.
  writeFileSync(beside, `${reason}\n`, { mode: 0o600, flag: 'wx' });
}

function movedInto(path: string, name: string): string {
  const folder = join(dirname(path), name);
  mkdirSync(folder, { recursive: true });
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} leads elsewhere`);
  // A later file of the same name must not take the place of an earlier one that somebody may still want to repair.
  const taken = existsSync(join(folder, basename(path)));
  const moved = join(folder, taken ? `${Date.now()}-${basename(path)}` : basename(path));
  renameSync(path, moved);
  return moved;
}
