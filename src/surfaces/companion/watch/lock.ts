import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { processExists, startOf } from '../../../machine/process/group.ts';
import { orNothing } from '../../../wire/or-nothing.ts';

/** Every holder renews its lock more often than this. An older lock is left over from a crash, and its process id may now belong to another program. */
const STALE_MS = 10 * 60_000;

export interface Lock {
  /** Renews the lock, so that it does not look abandoned. */
  renew(): void;
  release(): void;
}

/** Takes a lock that only one process on this machine can hold. If another process holds it, returns the id of that process. */
export function takeLock(path: string): Lock | { readonly heldBy: number } {
  const mine = `${process.pid}:${startOf(process.pid)}:${Math.random().toString(36).slice(2)}`;
  for (;;) {
    if (created(path, mine)) {
      const isMine = () => contentOf(path) === mine;
      return { renew: () => isMine() && writeFileSync(path, mine), release: () => isMine() && rmSync(path, { force: true }) };
    }
    const holder = holderOf(path);
    // The lock was released in between, so try again.
    if (holder === undefined) continue;
    if (!isLeft(path, holder)) return { heldBy: Number(holder.split(':')[0]) };
    takeAway(path, holder);
  }
}

/** Writes the lock to a draft file and then links it to the final name, so that other processes never read an incomplete lock. */
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

/**
 * Moves an abandoned lock away. If another process was faster and has already taken the lock, this call moves the new lock by mistake, and then restores it.
 */
function takeAway(path: string, left: string): void {
  const aside = `${path}.${process.pid}.left`;
  if (orNothing(() => renameSync(path, aside) ?? true) === undefined) return;
  if (contentOf(aside) !== left) orNothing(() => linkSync(aside, path));
  rmSync(aside, { force: true });
}

/**
 * Returns the content of the lock, or undefined if there is no lock. Throws if the lock
 * is unreadable, because a caller that waited for it to disappear would wait forever.
 */
function holderOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const contentOf = (path: string): string | undefined => orNothing(() => readFileSync(path, 'utf8'));
