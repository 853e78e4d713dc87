import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { processExists, startOf } from '../../../machine/process/group.ts';
import { orNothing } from '../../../wire/or-nothing.ts';

/** Longer than any holder works without a sign: one that is older was left by a machine that went down, and its number is somebody else's now. */
const STALE_MS = 10 * 60_000;

export interface Lock {
  /** So that it is not taken for one that was left behind. */
  renew(): void;
  release(): void;
}

/** At most one holder on this machine. The other's process id where somebody has it. */
export function takeLock(path: string): Lock | { readonly heldBy: number } {
  const mine = `${process.pid}:${startOf(process.pid)}:${Math.random().toString(36).slice(2)}`;
  for (;;) {
    if (created(path, mine)) {
      const isMine = () => contentOf(path) === mine;
      return { renew: () => isMine() && writeFileSync(path, mine), release: () => isMine() && rmSync(path, { force: true }) };
    }
    const holder = holderOf(path);
    // It was released in between: once more.
    if (holder === undefined) continue;
    if (!isLeft(path, holder)) return { heldBy: Number(holder.split(':')[0]) };
    takeAway(path, holder);
  }
}

/** Whole from the first moment: a name is given to a file that has its content already. */
function created(path: string, mine: string): boolean {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, mine, { mode: 0o600 });
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function isLeft(path: string, holder: string): boolean {
  const [pid = 0, started = 0] = holder.split(':').map(Number);
  if (!Number.isInteger(pid) || pid <= 1 || !processExists(pid) || startOf(pid) !== started) return true;
  const changedAt = orNothing(() => statSync(path).mtimeMs);
  return changedAt !== undefined && Date.now() - changedAt > STALE_MS;
}

/** Of two who find the same lock left behind, one moves it away; the other may have moved the new one, and puts it back. */
function takeAway(path: string, left: string): void {
  const aside = `${path}.${process.pid}.left`;
  if (orNothing(() => renameSync(path, aside) ?? true) === undefined) return;
  if (contentOf(aside) !== left) orNothing(() => linkSync(aside, path));
  rmSync(aside, { force: true });
}

/** Undefined where there is none. One that cannot be looked at is somebody's: whoever waited for it to go would wait for ever. */
function holderOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const contentOf = (path: string): string | undefined => orNothing(() => readFileSync(path, 'utf8'));
