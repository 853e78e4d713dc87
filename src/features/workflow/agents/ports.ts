import type { Db } from '../../../storage/engine.ts';
import type { AgentRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';

export interface Leaving {
  /** In a word or two, for the journal. */
  readonly reason: string;
  readonly actor: string;
}

/** What the agent holds is given back. Answers how many tasks that were. */
export type Gone = (tx: Tx, agent: AgentRow, why: Leaving) => Promise<number>;

export interface Unread {
  readonly count: number;
  readonly by_priority: Record<string, number>;
}

/** What agents need of features that know of agents. */
export interface AgentPorts {
  readonly gone: Gone;
  claims(db: Db, workspace: string, agentId: string): Promise<{ task_id: string; fence: number }[]>;
  unread(db: Db, workspace: string, agentId: string, now: number): Promise<Unread>;
}
