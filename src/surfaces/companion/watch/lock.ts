import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { processExists, startOf } from '../../../machine/process/group.ts';
import { orNothing } from '../../../wire/or-nothing.ts';

/** Longer than any holder works without renewing. An older lock was left behind by a crashed machine, and its process id may belong to another program now. */
const STALE_MS = 10 * 60_000;

export interface Lock {
  /** Renews the lock, so that it is not taken for one that was left behind. */
  renew(): void;
  release(): void;
}

/** At most one holder per machine. Returns the other process's id if it is locked. */
export function takeLock(path: string): Lock | { readonly heldBy: number } {
  const mine = `${process.pid}:${startOf(process.pid)}:${Math.random().toString(36).slice(2)}`;
  for (;;) {
    if (created(path, mine)) {
      const isMine = () => contentOf(path) === mine;
      return { renew: () => isMine() && writeFileSync(path, mine), release: () => isMine() && rmSync(path, { force: true }) };
    }
    const holder = holderOf(path);
    // The lock was released in between: try again.
    if (holder === undefined) continue;
    if (!isLeft(path, holder)) return { heldBy: Number(holder.split(':')[0]) };
    takeAway(path, holder);
  }
}

/** The lock file appears complete: a finished draft is linked to its name. */
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

/** If two processes find the same abandoned lock, one moves it away. The other may have moved the new lock, and restores it. */
function takeAway(path: string, left: string): void {
  const aside = `${path}.${process.pid}.left`;
  if (orNothing(() => renameSync(path, aside) ?? true) === undefined) return;
  if (contentOf(aside) !== left) orNothing(() => linkSync(aside, path));
  rmSync(aside, { force: true });
}

/** Undefined if there is no lock. An unreadable lock counts as held: a caller that waited for it to disappear would wait forever. */
function holderOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const contentOf = (path: string): string | undefined => orNothing(() => readFileSync(path, 'utf8'));
