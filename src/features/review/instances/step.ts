import type { Launcher } from '../../../clients/client.ts';
import { createLeases, type LeasedStep, STEP_OVER } from '../../../kernel/step.ts';
import type { AgentHost } from '../../../machine/agent-sessions/agent-host.ts';
import type { Tmux } from '../../../machine/agent-sessions/tmux.ts';
import type { FileDisk } from '../../../machine/files.ts';
import type { GitDisk } from '../../../machine/git/disk.ts';
import type { GitHub } from '../../../machine/github/github.ts';
import { holders } from '../../../machine/process/holder.ts';
import type { Db } from '../../../storage/engine.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { Feedback } from './contract.ts';
import { changeInstance, findInstance } from './store.ts';

export interface InstanceNotice {
  readonly from: string;
  readonly to: string;
  readonly actor: string;
  readonly subject: string;
  readonly body: string | Record<string, unknown>;
  readonly priority?: 'low' | 'normal' | 'high' | 'urgent';
}

/** What instances need of other features. */
export interface InstancePorts {
  /** As whom messages reach it. */
  registerAgent(tx: Tx, instance: Pick<InstanceRow, 'id' | 'type' | 'agent' | 'worktree_path' | 'developer_id'>): Promise<string>;
  /** The server sees it run: as good as if it had said so itself. */
  agentSeen(tx: Tx, agentId: string): Promise<void>;
  /** It takes part no longer; what it had claimed is free. */
  agentLeaves(tx: Tx, agentId: string, by: string): Promise<void>;
  /** A message that its agent finds in its inbox. */
  tell(tx: Tx, message: InstanceNotice): Promise<string>;
  issueToken(tx: Tx, instance: Pick<InstanceRow, 'id' | 'developer_id'>, by: string): Promise<{ id: string; value: string }>;
  revokeToken(tx: Tx, tokenId: string, by: string): Promise<void>;
  /** For whom the caller starts an instance: themselves, or the first developer where the operator does. */
  developerOf(tx: Tx, callerDeveloperId: string | null): Promise<string | null>;
  /** What reviews told it, or what it told as a reviewer; the newest first. */
  feedbackOf(db: Db, workspace: string, instance: string): Promise<Feedback[]>;
}

/** The machine outside the store. What of the instances is here is known by its `machine`: another server's may lie on another one. */
export interface InstanceOutside extends Omit<AgentHost, 'tmux'> {
  readonly disk: GitDisk;
  readonly files: FileDisk;
  readonly github: GitHub;
  /** What a person types to look at a terminal, and to end it; null where there is no tmux. */
  tmux(): Promise<Pick<Tmux, 'attachArgs' | 'endArgs'> | null>;
  /** Folders under which repositories may be; undefined: anywhere. */
  readonly repositories: readonly string[] | undefined;
  readonly launchers: Readonly<Record<string, Launcher>>;
  /** How many agents run here at once, of all workspaces. */
  readonly maxRunning: number;
  /** Where agents reach this server; undefined where no server listens. */
  url(): string | undefined;
}

export type LeasedInstance = LeasedStep<InstanceRow>;

export const { lease, leave, isOverdue, stillMine, goOn, takeOver, finishOverdue } = createLeases<InstanceRow>({
  holders,
  stepMs: 180_000,
  find: (tx, { id }) => findInstance(tx.db, tx.workspace, id),
  change: (tx, row, values) => changeInstance(tx.db, row, values),
});
export const LEASE_OVER = { ...STEP_OVER, step_by: null, step_data: null } as const;
