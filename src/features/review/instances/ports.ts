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

/** The parts of other features that instances use. */
export interface InstancePorts {
  /** Registers the instance as an agent, whose id receives its messages. */
  registerAgent(tx: Tx, instance: Pick<InstanceRow, 'id' | 'type' | 'agent' | 'worktree_path' | 'developer_id'>): Promise<string>;
  /** Records that the server saw its process running, which counts as a heartbeat. */
  agentSeen(tx: Tx, agentId: string): Promise<void>;
  /** Takes the agent offline and releases its claims. */
  agentLeaves(tx: Tx, agentId: string, by: string): Promise<void>;
  /** Puts a message into the inbox of its agent. */
  sendMessage(tx: Tx, message: InstanceNotice): Promise<string>;
  issueToken(tx: Tx, instance: Pick<InstanceRow, 'id' | 'developer_id'>, by: string): Promise<{ id: string; value: string }>;
  revokeToken(tx: Tx, tokenId: string, by: string): Promise<void>;
  /** The owner of a new instance: the caller, or the first developer if the operator starts it. */
  developerOf(tx: Tx, callerDeveloperId: string | null): Promise<string | null>;
  /** Feedback that the instance received, or sent as a reviewer; newest first. */
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

/** The parts of the machine outside of the store. An instance runs on this machine if its row has the same `machine`. */
export interface InstanceOutside extends Pick<AgentHost, 'machine' | 'sessions' | 'environment' | 'keepScreen' | 'keptScreen' | 'boundLog'> {
  readonly disk: GitDisk;
  readonly files: FileDisk;
  readonly github: GitHub;
  /** The arguments to attach to a terminal and to end it; null without tmux. */
  tmux(): Promise<Pick<Tmux, 'attachArgs' | 'endArgs'> | null>;
  /** Folders that may contain repositories. Undefined: any. */
  readonly repositories: readonly string[] | undefined;
  readonly launchers: Readonly<Record<string, Launcher>>;
  /** Maximum number of agents running here at a time, in all workspaces. */
  readonly maxRunning: number;
  /** The address at which agents reach this server; undefined if no server is listening. */
  url(): string | undefined;
}
