import type { Launcher } from '../../../clients/client.ts';
import type { AgentHost } from '../../../machine/agent-sessions/agent-host.ts';
import type { Tmux } from '../../../machine/agent-sessions/tmux.ts';
import type { FileDisk } from '../../../machine/files.ts';
import type { GitDisk } from '../../../machine/git/disk.ts';
import type { GitHub } from '../../../machine/github/github.ts';
import type { Db } from '../../../storage/engine.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { Feedback } from './contract.ts';

/** What instances need of other features. */
export interface InstancePorts {
  /** Registers the instance as an agent, under whose id messages reach it. */
  registerAgent(tx: Tx, instance: Pick<InstanceRow, 'id' | 'type' | 'agent' | 'worktree_path' | 'developer_id'>): Promise<string>;
  /** The server sees its process run, which counts as a heartbeat. */
  agentSeen(tx: Tx, agentId: string): Promise<void>;
  /** Takes the agent offline and releases its claims. */
  agentLeaves(tx: Tx, agentId: string, by: string): Promise<void>;
  /** Puts a message into the inbox of its agent. */
  sendMessage(tx: Tx, message: InstanceNotice): Promise<string>;
  issueToken(tx: Tx, instance: Pick<InstanceRow, 'id' | 'developer_id'>, by: string): Promise<{ id: string; value: string }>;
  revokeToken(tx: Tx, tokenId: string, by: string): Promise<void>;
  /** For whom the caller starts an instance: themselves, or the first developer where the operator does. */
  developerOf(tx: Tx, callerDeveloperId: string | null): Promise<string | null>;
  /** Feedback that the instance got, or gave as a reviewer; the newest first. */
  feedbackOf(db: Db, workspace: string, instance: string): Promise<Feedback[]>;
}

export interface InstanceNotice {
  readonly from: string;
  readonly to: string;
  readonly actor: string;
  readonly subject: string;
  readonly body: string | Record<string, unknown>;
  readonly priority?: 'low' | 'normal' | 'high' | 'urgent';
}

/** The machine outside the store. An instance is on this one if its row has the same `machine`. */
export interface InstanceOutside extends Pick<AgentHost, 'machine' | 'sessions' | 'environment' | 'keepScreen' | 'keptScreen' | 'boundLog'> {
  readonly disk: GitDisk;
  readonly files: FileDisk;
  readonly github: GitHub;
  /** The arguments to attach to a terminal and to end it; null where there is no tmux. */
  tmux(): Promise<Pick<Tmux, 'attachArgs' | 'endArgs'> | null>;
  /** Folders under which repositories may be; undefined: anywhere. */
  readonly repositories: readonly string[] | undefined;
  readonly launchers: Readonly<Record<string, Launcher>>;
  /** How many agents run here at once, of all workspaces. */
  readonly maxRunning: number;
  /** Where agents reach this server; undefined where no server listens. */
  url(): string | undefined;
}
