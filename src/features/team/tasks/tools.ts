import type { CallContext, WriteContext } from '../../../kernel/call.ts';
import { ok, type Refused } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper, developerFor, viewerOf } from '../../core/identity/index.ts';
import { type Confirmation, type Preflight, type Prepared, planReply, type StartedWork, UNASKED } from '../overlap/index.ts';
import { cancel, complete, editPlanned, ownTask, setRunning } from './changes.ts';
import {
  cancelTask,
  cancelTaskByHand,
  checkTask,
  completeTask,
  listTasks,
  planTask,
  planTaskByHand,
  showTask,
  startPlannedTask,
  startTask,
  taskOwners,
  updateTask,
} from './contract.ts';
import { requireState, TASK_MACHINE } from './lifecycle.ts';
import { countTasks, findTask, ownersOfTasks, showTasks, taskNamed, tasksBy } from './store.ts';
import { activate, addTask, requireOpenWorkstream, storedSubject, subjectOf, type TaskWords } from './tasks.ts';

export function taskTools(preflight: Preflight): Implementation[] {
  const prepare = (
    { title, scope = null, description = null }: Pick<TaskWords, 'title'> & { scope?: string | null | undefined; description?: string | null | undefined },
    ctx: Pick<CallContext, 'workspace'>,
  ) => preflight.prepare(ctx, { title, scope, description });

  const plan = async (tx: Tx, ctx: WriteContext, words: TaskWords, prepared: Prepared, confirmation: Confirmation) => {
    const subject = await subjectOf(tx, ctx, callingDeveloper(ctx.principal), words, null);
    let row: Awaited<ReturnType<typeof addTask>> | undefined;
    const planned = await preflight.plan(tx, ctx, subject, prepared, confirmation, async () => {
      row = await addTask(tx, ctx, subject, words, 'planned');
      return row.id;
    });
    return { planned, row };
  };

  return [
    implement(checkTask, {
      prepare,
      write: async (tx, { planned_task_id, ...words }, ctx, prepared) => {
        const planned = planned_task_id ? await ownTask(tx, ctx, planned_task_id, 'planned_task_id') : undefined;
        if (planned) requireState(TASK_MACHINE, 'start_planned', 'task', planned);
        const subject = await subjectOf(tx, ctx, callingDeveloper(ctx.principal), words, planned?.id ?? null);
        return await preflight.check(tx, ctx, subject, prepared);
      },
    }),
    implement(planTask, {
      prepare,
      write: async (tx, words, ctx, prepared) => {
        const { planned, row } = await plan(tx, ctx, words, prepared, UNASKED);
        return planReply(planned, { task_id: row?.id ?? '', status: 'planned' as const, workstream_id: row?.workstream_id ?? '' });
      },
    }),
    implement(planTaskByHand, {
      prepare,
      write: async (tx, { confirm = false, confirmation_reason: reason, ...words }, ctx, prepared) => {
        const { planned, row } = await plan(tx, ctx, words, prepared, { confirmed: confirm, reason });
        const status = row ? ('planned' as const) : null;
        return planReply(planned, { task_id: planned.id, status, workstream_id: row?.workstream_id ?? null, requires_confirm: planned.id === null }, confirm);
      },
    }),
    implement(startTask, {
      prepare,
      write: async (tx, { check_id, scope_verdict, warning_id, confirmation_reason, ...words }, ctx, prepared) => {
        const developerId = callingDeveloper(ctx.principal);
        // The workstream is checked first. Otherwise an agent would have to judge candidates for a start that can never succeed.
        if (words.workstream_id) await requireOpenWorkstream(tx, developerId, words.workstream_id);
        const subject = await subjectOf(tx, ctx, developerId, words, null);
        const answer = { check_id, scope_verdict, warning_id, confirmation_reason };
        return startedReply(await preflight.start(tx, ctx, subject, answer, prepared, async () => await addTask(tx, ctx, subject, words, 'active')));
      },
    }),
    implement(startPlannedTask, {
      prepare: async ({ planned_task_id }, ctx) => {
        const row = await findTask(ctx.reader, ctx.workspace, planned_task_id);
        return await prepare({ title: row?.title ?? '', scope: row?.scope, description: row?.description }, ctx);
      },
      write: async (tx, { planned_task_id, ...answer }, ctx, prepared) => {
        const row = await ownTask(tx, ctx, planned_task_id, 'planned_task_id');
        requireState(TASK_MACHINE, 'start_planned', 'task', row);
        const begin = async () => ({ id: row.id, workstream_id: await activate(tx, ctx, row) });
        return startedReply(await preflight.start(tx, ctx, storedSubject(row), answer, prepared, begin));
      },
    }),
    implement(updateTask, {
      write: async (tx, { task_id, status, session_id: _, ...fields }, ctx) => {
        const row = await ownTask(tx, ctx, task_id);
        return row.status === 'planned' ? await editPlanned(tx, ctx, row, fields, status) : await setRunning(tx, ctx, row, fields, status);
      },
    }),
    implement(completeTask, { write: async (tx, input, ctx) => await complete(tx, ctx, await ownTask(tx, ctx, input.task_id), input) }),
    implement(cancelTask, { write: async (tx, { task_id, reason }, ctx) => await cancel(tx, ctx, await ownTask(tx, ctx, task_id), reason) }),
    implement(cancelTaskByHand, { write: async (tx, { task_id, reason }, ctx) => await cancel(tx, ctx, await ownTask(tx, ctx, task_id), reason) }),
    implement(listTasks, {
      read: async ({ status, mine = false, owner, repository, workstream_id, before, limit = 50 }, { reader, workspace, principal }) => {
        const ofOwner = owner === undefined ? undefined : (await developerFor(reader, workspace, principal, owner)).id;
        const developerId = mine ? callingDeveloper(principal) : ofOwner;
        const filter = { statuses: status, developerId, repository, workstreamId: workstream_id };
        const rows = await tasksBy(reader, workspace, { ...filter, before, limit: limit + 1 });
        const items = await showTasks(reader, workspace, principal, rows.slice(0, limit));
        return ok({ items, more: rows.length > limit, total: await countTasks(reader, workspace, filter) });
      },
    }),
    implement(showTask, {
      read: async ({ task_id }, { reader, workspace, principal }) => {
        const [task] = await showTasks(reader, workspace, principal, [await taskNamed(reader, workspace, task_id)]);
        return ok({ task: task as NonNullable<typeof task> });
      },
    }),
    implement(taskOwners, {
      read: async (_input, { reader, workspace, principal }) => {
        const { name, sees } = await viewerOf(reader, principal);
        const names = (await ownersOfTasks(reader, workspace)).filter(sees).map(name);
        return ok({ items: names.sort((a, b) => a.localeCompare(b)).map((known) => ({ name: known })) });
      },
    }),
  ];
}

function startedReply(started: StartedWork<{ id: string; workstream_id: string }> | Refused) {
  if ('status' in started) return started;
  const { work, warningId, conflicts } = started;
  const data = { task_id: work.id, status: 'active' as const, workstream_id: work.workstream_id, warning_id: warningId, file_conflicts: conflicts };
  return ok(data, conflicts.length > 0 ? 'Started. Others are working on some of its files: see `file_conflicts`.' : 'Started.');
}
