import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { requireTask, requireWorkflow } from '../workflows/index.ts';
import { contextOf } from './context.ts';
import { getSummary, loadContext } from './contract.ts';
import { summaryOf } from './summary.ts';
import { loadTokenizer } from './tokens.ts';

export const recoveryTools: Implementation[] = [
  implement(loadContext, {
    read: async ({ task_id, include, max_tokens }, ctx) => {
      const task = await requireTask(ctx.reader, ctx.workspace, task_id);
      const workflow = await requireWorkflow(ctx.reader, ctx.workspace, task.workflow_id);
      return ok(await contextOf(ctx.reader, { workflow, task, include, max: max_tokens }, await loadTokenizer()));
    },
  }),
  implement(getSummary, {
    read: async ({ id, format, max_tokens }, ctx) => {
      const workflow = await requireWorkflow(ctx.reader, ctx.workspace, id);
      return ok(await summaryOf(ctx.reader, { workflow, viewer: ctx.principal, format, max: max_tokens }, await loadTokenizer()));
    },
  }),
];
