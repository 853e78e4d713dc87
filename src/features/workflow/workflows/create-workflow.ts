import { record, type WriteContext } from '../../../kernel/call.ts';
import { absolutePath } from '../../../kernel/contract.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { invalidInput } from '../../../kernel/reply.ts';
import { insertRows, newId } from '../../../storage/rows.ts';
import type { WorkflowRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { ensureRepository } from '../repositories/index.ts';
import type { SourceType } from './contract.ts';

interface NewWorkflow {
  readonly name: string;
  readonly source_type: SourceType;
  readonly source_ref?: string | undefined;
  readonly source_content: string;
  readonly repository_path?: string | undefined;
  readonly max_parallel_tasks: number;
  readonly auto_create_workspaces: boolean;
}

export async function createWorkflow(tx: Tx, ctx: WriteContext, spec: NewWorkflow): Promise<WorkflowRow> {
  const repository = await ensureRepository(tx, ctx, spec.repository_path ?? reportedRepository(ctx));
  const row: WorkflowRow = {
    workspace_id: tx.workspace,
    id: newId('wf', tx.now),
    name: spec.name,
    status: 'planning',
    status_reason: null,
    source_type: spec.source_type,
    source_ref: spec.source_ref ?? null,
    source_content: spec.source_content,
    repository_path: repository.path,
    plan: null,
    max_parallel_tasks: spec.max_parallel_tasks,
    auto_create_workspaces: spec.auto_create_workspaces ? 1 : 0,
    developer_id: ctx.principal.developerId,
    actor: ctx.principal.actor,
    created_at: tx.now,
    updated_at: tx.now,
    started_at: null,
    finished_at: null,
  };
  await insertRows(tx.db, 'workflows', row);
  const payload = { name: excerpt(row.name, 200), source_type: row.source_type, repository_id: repository.id };
  record(tx, ctx, { category: 'work', kind: 'workflow.created', subject: row.id, payload });
  return row;
}

function reportedRepository({ repository }: WriteContext): string {
  const path = absolutePath.safeParse(repository ?? '');
  if (path.success) return path.data;
  throw invalidInput([{ field: 'repository_path', message: 'is required, because your client reported no repository' }]);
}
