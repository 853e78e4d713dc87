import { DEFAULT_WORKSPACE_ID } from '../../kernel/ids.ts';
import type { WorkflowApp } from './workflow.ts';

/** Writes many checkpoints directly to the store, because calling the tools would take minutes. */
export async function manyCheckpoints({ app }: WorkflowApp, taskId: string, count: number, detail: (at: number) => object | null = () => null): Promise<void> {
  await app.store.write(DEFAULT_WORKSPACE_ID, async ({ db, now }) => {
    const rows = Array.from({ length: count }, (_, at) => {
      const given = detail(at + 1);
      return {
        workspace_id: DEFAULT_WORKSPACE_ID,
        task_id: taskId,
        sequence: at + 1,
        id: `cp_${taskId.slice(-4)}${String(at + 1).padStart(6, '0')}`,
        type: 'progress' as const,
        summary: `Checkpoint number ${at + 1} of the work`,
        detail: given === null ? null : JSON.stringify(given),
        files_changed: '[]',
        agent_id: null,
        actor: 'test',
        created_at: now,
      };
    });
    for (let start = 0; start < rows.length; start += 500) {
      await db
        .insertInto('checkpoints')
        .values(rows.slice(start, start + 500))
        .execute();
    }
    await db.updateTable('workflow_tasks').set({ last_checkpoint: count }).where('id', '=', taskId).execute();
  });
}

export async function ended(
  { app }: WorkflowApp,
  ids: readonly string[],
  outcome: (at: number) => string,
  status: 'completed' | 'skipped' | 'failed' = 'completed',
) {
  await app.store.write(DEFAULT_WORKSPACE_ID, async ({ db }) => {
    for (const [at, id] of ids.entries()) {
      await db
        .updateTable('workflow_tasks')
        .set({ status, finished_at: 1_000 + at, [status === 'failed' ? 'error' : 'outcome']: outcome(at) })
        .where('id', '=', id)
        .execute();
    }
  });
}
