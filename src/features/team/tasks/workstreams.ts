import { record, type WriteContext } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { notFound, ok, type Refused, refused } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { view } from '../../../storage/rows.ts';
import type { WorkstreamRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper, viewerOf } from '../../core/identity/index.ts';
import {
  type CheckedWork,
  type Confirmation,
  dropPlanWarning,
  type Preflight,
  type Prepared,
  planReply,
  type StartedWork,
  setItemStatus,
  UNASKED,
} from '../overlap/index.ts';
import {
  cancelWorkstream,
  checkWorkstream,
  completeWorkstream,
  planWorkstream,
  planWorkstreamByHand,
  showWorkstream,
  startPlannedWorkstream,
  startWorkstream,
  updateWorkstream,
} from './contract.ts';
import { requireState, WORKSTREAM_MACHINE } from './lifecycle.ts';
import { changeWorkstream, countTasksIn, findWorkstream, openTaskIds, plannedWithTitle, workstreamNamed } from './store.ts';
import { insertWorkstream } from './tasks.ts';

/** The length of the summary in a completion event. With the title, it fits into the payload limit. */
const SUMMARY_BYTES = 2_000;
const LISTED_TASKS = 100;

interface WorkstreamWords {
  title: string;
  description?: string | undefined;
}

export function workstreamTools(preflight: Preflight): Implementation[] {
  const prepare = ({ title, description = null }: { title: string; description?: string | null | undefined }, ctx: { workspace: string }) =>
    preflight.prepare(ctx, { title, scope: null, description });

  const plan = async (tx: Tx, ctx: WriteContext, words: WorkstreamWords, prepared: Prepared, confirmation: Confirmation) => {
    const subject = subjectOf(callingDeveloper(ctx.principal), words, undefined);
    return await preflight.plan(tx, ctx, subject, prepared, confirmation, async () => (await addWorkstream(tx, ctx, subject, 'planned')).id);
  };

  return [
    implement(checkWorkstream, {
      prepare,
      write: async (tx, input, ctx, prepared) => {
        const developerId = callingDeveloper(ctx.principal);
        const planned = await plannedWithTitle(tx.db, tx.workspace, developerId, input.title);
        return await preflight.check(tx, ctx, subjectOf(developerId, input, planned), prepared);
      },
    }),
    implement(planWorkstream, {
      prepare,
      write: async (tx, input, ctx, prepared) => {
        const planned = await plan(tx, ctx, input, prepared, UNASKED);
        return planReply(planned, { workstream_id: planned.id ?? '', status: 'planned' as const });
      },
    }),
    implement(planWorkstreamByHand, {
      prepare,
      write: async (tx, { confirm = false, confirmation_reason: reason, ...input }, ctx, prepared) => {
        const planned = await plan(tx, ctx, input, prepared, { confirmed: confirm, reason });
        const requires_confirm = planned.id === null;
        return planReply(planned, { workstream_id: planned.id, status: requires_confirm ? null : ('planned' as const), requires_confirm }, confirm);
      },
    }),
    implement(startWorkstream, {
      prepare,
      write: async (tx, input, ctx, prepared) => {
        const subject = subjectOf(callingDeveloper(ctx.principal), input, undefined);
        return startedReply(await preflight.start(tx, ctx, subject, input, prepared, async () => await addWorkstream(tx, ctx, subject, 'active')));
      },
    }),
    implement(startPlannedWorkstream, {
      prepare: async ({ planned_workstream_id }, ctx) => {
        const row = await findWorkstream(ctx.reader, ctx.workspace, planned_workstream_id);
        return await prepare({ title: row?.title ?? '', description: row?.description }, ctx);
      },
      write: async (tx, { planned_workstream_id, ...answer }, ctx, prepared) => {
        const row = await ownWorkstream(tx, ctx, planned_workstream_id, 'planned_workstream_id');
        requireState(WORKSTREAM_MACHINE, 'start_planned', 'workstream', row);
        const subject = subjectOf(row.developer_id, { title: row.title, description: row.description ?? undefined }, row);
        const begin = async () => {
          await changeWorkstream(tx, row.id, { status: 'active' });
          record(tx, ctx, { category: 'work', kind: 'workstream.start_planned', subject: row.id, payload: { title: row.title } });
          return row;
        };
        return startedReply(await preflight.start(tx, ctx, subject, answer, prepared, begin));
      },
    }),
    implement(updateWorkstream, {
      write: async (tx, { workstream_id, status }, ctx) => {
        const row = await ownWorkstream(tx, ctx, workstream_id);
        requireState(WORKSTREAM_MACHINE, 'update', 'workstream', row);
        if (row.status !== status) {
          await changeWorkstream(tx, row.id, { status });
          await setItemStatus(tx, row.id, status);
          record(tx, ctx, { category: 'work', kind: 'workstream.updated', subject: row.id, payload: { from: row.status, to: status } });
        }
        return ok({ workstream_id, status }, `The workstream is ${status}.`);
      },
    }),
    implement(completeWorkstream, {
      write: async (tx, { workstream_id, result_summary, confirm_open_tasks = false }, ctx) => {
        const row = await ownWorkstream(tx, ctx, workstream_id);
        if (row.status === 'completed') return alreadyCompleted(workstream_id);
        requireState(WORKSTREAM_MACHINE, 'complete', 'workstream', row);
        const open = await openTaskIds(tx.db, tx.workspace, row.id);
        if (open.length > 0 && !confirm_open_tasks) {
          return refused(
            'warning',
            'OPEN_TASKS',
            `The workstream is still open: ${open.length} of its tasks are not finished.`,
            `Complete or cancel the tasks in \`open_task_ids\` with covibe_task, or repeat covibe_workstream with operation "complete", workstream_id "${row.id}", result_summary and confirm_open_tasks true.`,
            { workstream_id, status: row.status, open_task_ids: open },
          );
        }
        await changeWorkstream(tx, row.id, { status: 'completed', result_summary, closed_at: tx.now });
        await setItemStatus(tx, row.id, 'completed', tx.now);
        record(tx, ctx, {
          category: 'work',
          kind: 'workstream.completed',
          subject: row.id,
          payload: {
            title: row.title,
            result_summary: excerpt(result_summary, SUMMARY_BYTES),
            open_task_ids: open.slice(0, LISTED_TASKS),
            ...(open.length > LISTED_TASKS ? { open_tasks_omitted: open.length - LISTED_TASKS } : {}),
          },
        });
        return ok({ workstream_id, status: 'completed' as const, open_task_ids: open }, 'Completed.');
      },
    }),
    implement(cancelWorkstream, {
      write: async (tx, { workstream_id, reason }, ctx) => {
        const row = await ownWorkstream(tx, ctx, workstream_id);
        requireState(WORKSTREAM_MACHINE, 'cancel', 'workstream', row);
        await changeWorkstream(tx, row.id, { status: 'cancelled', reason, closed_at: tx.now });
        await setItemStatus(tx, row.id, 'cancelled', tx.now);
        await dropPlanWarning(tx, ctx, row.id);
        record(tx, ctx, { category: 'work', kind: 'workstream.cancelled', subject: row.id, payload: { title: row.title, reason } });
        return ok({ workstream_id, status: 'cancelled' as const }, 'Cancelled.');
      },
    }),
    implement(showWorkstream, {
      read: async ({ workstream_id }, { reader, workspace, principal }) => {
        const row = await workstreamNamed(reader, workspace, workstream_id);
        const { name } = await viewerOf(reader, principal);
        return ok(
          view(showWorkstream.output, row, {
            workstream_id: row.id,
            owner: name(row.developer_id),
            mine: row.developer_id === principal.developerId,
            auto_created: row.auto_created === 1,
            tasks: await countTasksIn(reader, workspace, row.id),
          }),
        );
      },
    }),
  ];
}

const startedReply = (started: StartedWork<WorkstreamRow> | Refused) =>
  'status' in started ? started : ok({ workstream_id: started.work.id, status: 'active' as const, warning_id: started.warningId }, 'Started.');

function alreadyCompleted(workstreamId: string): Refused {
  return refused('warning', 'ALREADY_COMPLETED', 'The workstream is already completed. Nothing was changed.', 'Nothing to do.', {
    workstream_id: workstreamId,
    status: 'completed',
    open_task_ids: [],
  });
}

const subjectOf = (developerId: string, { title, description = undefined }: WorkstreamWords, planned: WorkstreamRow | undefined): CheckedWork => ({
  kind: 'workstream',
  developerId,
  title,
  scope: null,
  description: description ?? null,
  action: null,
  component: null,
  taskType: null,
  files: [],
  repo: null,
  plannedId: planned?.id ?? null,
});

async function addWorkstream(
  tx: Tx,
  ctx: WriteContext,
  { developerId, title, description }: CheckedWork,
  status: 'planned' | 'active',
): Promise<WorkstreamRow> {
  const row = await insertWorkstream(tx, ctx, { developerId, title, description, status, auto_created: 0 });
  record(tx, ctx, { category: 'work', kind: status === 'planned' ? 'workstream.planned' : 'workstream.started', subject: row.id, payload: { title } });
  return row;
}

async function ownWorkstream(tx: Tx, ctx: WriteContext, id: string, field = 'workstream_id'): Promise<WorkstreamRow> {
  const row = await findWorkstream(tx.db, tx.workspace, id);
  if (row && row.developer_id === callingDeveloper(ctx.principal)) return row;
  throw notFound(
    'WORKSTREAM_NOT_FOUND',
    `Workstream ${JSON.stringify(id)} does not exist or is not yours.`,
    'Call covibe_team with operation "state" to see your workstreams.',
    field,
  );
}
