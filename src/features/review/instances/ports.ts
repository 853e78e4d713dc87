import type { Db } from '../../../storage/engine.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { Feedback } from './contract.ts';

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
