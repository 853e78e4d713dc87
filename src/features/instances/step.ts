import { type Held, isHeldAs, STEP_OVER } from '../../kernel/step.ts';
import type { AgentSessions } from '../../machine/agent-session.ts';
import type { GitDisk } from '../../machine/disk.ts';
import type { FileDisk } from '../../machine/files.ts';
import type { GitHub } from '../../machine/github.ts';
import { hasEnded, THIS_PROCESS } from '../../machine/holder.ts';
import type { Tx } from '../../storage/write.ts';
import type { Launcher } from './launchers.ts';
import { changeInstance, findInstance } from './store.ts';
import type { InstanceRow } from './tables.ts';

/** The machine outside the store. */
export interface Outside {
  /** What of the instances is here: another server's may lie on another machine. */
  readonly machine: string;
  readonly disk: GitDisk;
  readonly files: FileDisk;
  readonly github: GitHub;
  /** Tmux where it is, else plain processes. What was started is found again by its kind. */
  sessions(kind?: 'tmux' | 'process'): Promise<AgentSessions>;
  /** What a terminal showed last, for when it is gone. */
  keepScreen(name: string, text: string): Promise<void>;
  keptScreen(name: string): Promise<string | null>;
  /** Of the log of a plain process, which nobody else cuts. */
  boundLog(name: string): Promise<void>;
  /** What a person types to look at a terminal, and to end it; null where there is no tmux. */
  tmux(): Promise<{ attachArgs(name: string): string[]; endArgs(name: string): string[] } | null>;
  /** Folders under which repositories may be; undefined: anywhere. */
  readonly repositories: readonly string[] | undefined;
  readonly launchers: Readonly<Record<string, Launcher>>;
  /** How many agents run here at once, of all workspaces. */
  readonly maxRunning: number;
  /** Where agents reach this server; undefined where no server listens. */
  url(): string | undefined;
  /** The whole environment of an agent: what any program needs, what its launcher has passed on, and its own. */
  environment(passed: readonly string[], own: Readonly<Record<string, string>>): Record<string, string>;
}

/** Longer than any one step on the machine may take. */
const STEP_MS = 180_000;

export type Leased = Held<InstanceRow>;

export const lease = (step: Leased['step'], now: number) => ({ step, step_until: now + STEP_MS, step_by: THIS_PROCESS });
/** For the sweep of any server here to carry out. */
export const leave = (step: Leased['step'], from: number) => ({ step, step_until: from, step_by: null });
export const LEASE_OVER = { ...STEP_OVER, step_by: null, step_data: null } as const;

/** Nobody carries it out any more: its time is up, or whoever did has ended. */
export const isOverdue = (row: Pick<InstanceRow, 'step_until' | 'step_by'>, now: number): boolean => (row.step_until ?? 0) <= now || hasEnded(row.step_by);

/** As it stands now, if it is still in the same hands. */
export async function stillMine(tx: Tx, leased: Leased): Promise<InstanceRow | undefined> {
  const row = await findInstance(tx.db, tx.workspace, leased.id);
  return row && isHeldAs(row, leased) ? row : undefined;
}

/** On to the next step, or the same one for another while. Undefined where another has taken over. */
export async function goOn(tx: Tx, leased: Leased, step: Leased['step'], values: Partial<InstanceRow> = {}): Promise<Leased | undefined> {
  const row = await stillMine(tx, leased);
  return row && (await prolong(tx, row, step, values));
}

/** Takes over what is overdue. Of several servers that try, one gets it. */
export async function takeOver(tx: Tx, seen: InstanceRow): Promise<Leased | undefined> {
  const row = await findInstance(tx.db, tx.workspace, seen.id);
  return row?.step != null && isHeldAs(row, seen) && isOverdue(row, tx.now) ? await prolong(tx, row, row.step) : undefined;
}

async function prolong(tx: Tx, row: InstanceRow, step: Leased['step'], values: Partial<InstanceRow> = {}): Promise<Leased> {
  const next = { ...values, ...lease(step, tx.now) };
  await changeInstance(tx.db, row, next);
  return { ...row, ...next };
}
