import type { CallContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { ok, type Reply } from '../../../kernel/reply.ts';
import { stepRunner } from '../../../kernel/step.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { view } from '../../../storage/rows.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { allowReview } from './allow-review.ts';
import {
  instancesAbandon,
  instancesAllowReview,
  instancesClean,
  instancesList,
  instancesLogs,
  instancesMessage,
  instancesShow,
  instancesStart,
  instancesStop,
  relationshipView,
} from './contract.ts';
import { carryOutEnd } from './end.ts';
import { failuresOf } from './failures.ts';
import { requireInstance, requireWatchable } from './guards.ts';
import { isRunning } from './lifecycle.ts';
import { messageAgent } from './message-agent.ts';
import { planStart } from './plan-start.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import { reserve } from './reserve.ts';
import { carryOutStart, startFailed } from './start.ts';
import { abandon, clean, type EndDecision, stop } from './stop.ts';
import { listInstances, relationshipsOf } from './store.ts';
import { instanceViewer } from './views.ts';

/** Actions for people, from the dashboard and the command line. */
export function instanceActions(outside: InstanceOutside, ports: InstancePorts): Implementation[] {
  const services = { outside, ports };

  /** Records a person's decision in one transaction and carries it out immediately. If this process dies, the sweep carries it out. */
  async function takeAway(ctx: CallContext, decide: (tx: Tx) => Promise<EndDecision>): Promise<Reply<Output<typeof instancesStop>>> {
    const { row, leased } = await ctx.write(decide);
    let after = row;
    for (const one of leased) {
      const ended = await carryOutEnd(outside, ports, stepRunner(ctx), one);
      if (one.id === row.id) after = ended;
    }
    return ok(await ending(ctx, after));
  }

  return [
    implement(instancesStart, {
      run: async (input, ctx) => {
        const planned = await planStart(outside, ctx, input);
        const { actor, developerId } = ctx.principal;
        const leased = await ctx.write(async (tx) => reserve(tx, outside, ports, actor, { ...planned, developer: await ports.developerOf(tx, developerId) }));
        const started = await carryOutStart(outside, ports, stepRunner(ctx, ctx.signal), leased);
        if ('failure' in started) throw startFailed(started.failure);
        return ok((await instanceViewer(ctx.reader, ctx.principal, [started.row])).view(started.row));
      },
    }),
    implement(instancesList, {
      read: async (filter, ctx) => {
        const { rows, total } = await listInstances(ctx.reader, ctx.workspace, { ...filter, viewer: ctx.principal });
        return ok({ items: rows.map((await instanceViewer(ctx.reader, ctx.principal, rows)).view), total });
      },
    }),
    implement(instancesShow, {
      read: async ({ instance_id }, ctx) => {
        const row = await requireInstance(ctx.reader, ctx.workspace, instance_id);
        const viewer = await instanceViewer(ctx.reader, ctx.principal, [row]);
        const hidden = viewer.isHidden(row);
        return ok({
          instance: viewer.view(row),
          prompt: hidden ? null : row.prompt,
          attach: hidden ? null : await attachCommand(outside, row),
          relationships: (await relationshipsOf(ctx.reader, ctx.workspace, row.id)).map((row) => view(relationshipView, row, {})),
          feedback: hidden ? [] : await ports.feedbackOf(ctx.reader, ctx.workspace, row.id),
          failures: hidden ? [] : await failuresOf(ctx.reader, row),
        });
      },
    }),
    implement(instancesMessage, { write: async (tx, input, ctx) => ok(await messageAgent(tx, ports, ctx, input)) }),
    implement(instancesAllowReview, {
      write: async (tx, input, ctx) => {
        const row = await allowReview(tx, ports, ctx, input);
        return ok((await instanceViewer(tx.db, ctx.principal, [row])).view(row));
      },
    }),
    implement(instancesLogs, {
      read: async ({ instance_id, lines }, ctx) => {
        const row = await requireWatchable(ctx.reader, ctx.principal, instance_id, outside.machine);
        return ok({ instance_id, text: await outputOf(outside, row, lines), running: isRunning(row) });
      },
    }),
    implement(instancesStop, { run: (input, ctx) => takeAway(ctx, (tx) => stop(tx, services, ctx, input)) }),
    implement(instancesAbandon, { run: (input, ctx) => takeAway(ctx, (tx) => abandon(tx, services, ctx, input)) }),
    implement(instancesClean, { run: (input, ctx) => takeAway(ctx, (tx) => clean(tx, services, input)) }),
  ];
}

async function ending(ctx: CallContext, row: InstanceRow): Promise<Output<typeof instancesStop>> {
  const instance = (await instanceViewer(ctx.reader, ctx.principal, [row])).view(row);
  // Another server has taken over and is ending the instance.
  const reason = row.step === 'ending' ? 'it is being stopped now' : instance.kept_reason;
  return { instance, worktree: reason === null ? 'removed' : 'kept', reason, backup_ref: row.backup_ref };
}

/** Returns a command that only shows the terminal. Without its option `-r`, a person could also type. */
async function attachCommand(outside: InstanceOutside, row: InstanceRow): Promise<string[] | null> {
  if (row.session_kind !== 'tmux' || row.machine !== outside.machine || !isRunning(row)) return null;
  const [socket, path, command, ...target] = (await outside.tmux())?.attachArgs(row.session_name) ?? [];
  return socket && path && command ? ['tmux', socket, path, command, '-r', ...target] : null;
}

/** Returns the last lines of the agent's terminal or log. If these do not exist any more, returns the last lines of the saved screen. */
export async function outputOf(outside: InstanceOutside, row: InstanceRow, lines: number): Promise<string> {
  if (row.session_kind === null) return '';
  const sessions = await outside.sessions(row.session_kind);
  const there = row.session_kind === 'process' || row.ended_at === null || isRunning(row);
  const shown = there ? await sessions.screen({ name: row.session_name, pid: row.pid ?? 0, started: row.process_start ?? 0 }, lines) : '';
  return lastLines(shown || ((await outside.keptScreen(row.session_name)) ?? ''), lines);
}

/** Drops empty lines at the end, because a screen is as high as the terminal even if most of it is empty. */
function lastLines(text: string, most: number): string {
  return text.trimEnd().split('\n').slice(-most).join('\n');
}
