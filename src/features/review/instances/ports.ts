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

/** Functions of other features that instances use. */
export interface InstancePorts {
  /** Registers the instance as an agent. The instance gets its messages under the id of that agent. */
  registerAgent(tx: Tx, instance: Pick<InstanceRow, 'id' | 'type' | 'agent' | 'worktree_path' | 'developer_id'>): Promise<string>;
  /** Records that the agent's process is running. This counts as a heartbeat. */
  agentSeen(tx: Tx, agentId: string): Promise<void>;
  /** Takes the agent offline and releases its claims. */
  agentLeaves(tx: Tx, agentId: string, by: string): Promise<void>;
  /** Puts a message into the inbox of its agent. */
  sendMessage(tx: Tx, message: InstanceNotice): Promise<string>;
  issueToken(tx: Tx, instance: Pick<InstanceRow, 'id' | 'developer_id'>, by: string): Promise<{ id: string; value: string }>;
  revokeToken(tx: Tx, tokenId: string, by: string): Promise<void>;
  /** Returns the owner of a new instance. This is the caller, or the first developer if the operator starts the instance. */
  developerOf(tx: Tx, callerDeveloperId: string | null): Promise<string | null>;
  /** Returns the feedback that the instance received, or that it sent as a reviewer, newest first. */
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

/** Access to the server's machine. An instance runs on this machine if its row contains the same value of `machine`. */
export interface InstanceOutside extends Pick<AgentHost, 'machine' | 'sessions' | 'environment' | 'keepScreen' | 'keptScreen' | 'boundLog'> {
  readonly disk: GitDisk;
  readonly files: FileDisk;
  readonly github: GitHub;
  /** The tmux arguments that attach to a session and that end a session. Null if tmux is not available. */
  tmux(): Promise<Pick<Tmux, 'attachArgs' | 'endArgs'> | null>;
  /** Only repositories in these folders may be used. Undefined means that every folder is allowed. */
  readonly repositories: readonly string[] | undefined;
  readonly launchers: Readonly<Record<string, Launcher>>;
  /** Maximum number of agents that run on this machine at the same time, in all workspaces together. */
  readonly maxRunning: number;
  /** The address at which agents reach this server; undefined if no server is listening. */
  url(): string | undefined;
}
