import type { GitDisk } from '../../machine/disk.ts';
import type { Tx, WriteCallback } from '../../storage/write.ts';
import { changeWorktree, findWorktree } from './store.ts';
import type { WorktreeRow } from './tables.ts';

/** The machine outside the store, and which repositories on it may be touched. */
export interface Outside {
  readonly disk: GitDisk;
  /** Folders under which repositories may be; undefined: anywhere. */
  readonly repositories: readonly string[] | undefined;
}

/** Who carries a step out: a call, or the sweep that finishes what a process has left. */
export interface Hand {
  readonly actor: string;
  readonly signal: AbortSignal | undefined;
  /** Made even if the time of a call is up: what was done on disk must be recorded. */
  write<T>(callback: WriteCallback<T>): Promise<T>;
}

/** Longer than git is given for a checkout: whoever takes a step over finds no git of the other's still at work. */
const STEP_MS = 120_000;

/** A worktree in the hands of whoever knows this very `step_until`. */
export type Leased = WorktreeRow & { readonly step_until: number };

export const lease = (step: NonNullable<WorktreeRow['step']>, now: number) => ({ step, step_until: now + STEP_MS });
export const LEASE_OVER = { step: null, step_until: null } as const;

export const isUnderWay = (row: WorktreeRow, now: number): boolean => row.step !== null && (row.step_until ?? 0) > now;

/** Takes over what is overdue. Of several servers that try, one gets it. */
export async function takeOver(tx: Tx, seen: WorktreeRow): Promise<Leased | undefined> {
  const row = await findWorktree(tx.db, tx.workspace, seen.id);
  if (row?.step == null || row.step_until !== seen.step_until || isUnderWay(row, tx.now)) return undefined;
  const taken = { ...row, ...lease(row.step, tx.now) };
  await changeWorktree(tx.db, row, { step_until: taken.step_until });
  return taken;
}

/** For what takes a while longer, before it is begun. */
export async function renew(tx: Tx, leased: Leased): Promise<Leased | undefined> {
  const row = await stillMine(tx, leased);
  if (row?.step == null) return undefined;
  const renewed = { ...row, ...lease(row.step, tx.now) };
  await changeWorktree(tx.db, row, { step_until: renewed.step_until });
  return renewed;
}

/** As it stands now, if it is still in the same hands. */
export async function stillMine(tx: Tx, leased: Leased): Promise<WorktreeRow | undefined> {
  const row = await findWorktree(tx.db, tx.workspace, leased.id);
  return row?.step === leased.step && row.step_until === leased.step_until ? row : undefined;
}
