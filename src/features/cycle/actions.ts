import { type CallContext, record } from '../../kernel/call.ts';
import type { Output } from '../../kernel/contract.ts';
import { invalidInput, notFound, ok, Refusal } from '../../kernel/reply.ts';
import { type Implementation, implement } from '../../kernel/tool.ts';
import { changeRows, view } from '../../storage/rows.ts';
import type { CycleHandoffRow, RoleSessionRow } from '../../storage/schema-rows.ts';
import type { Tx } from '../../storage/write.ts';
import { valueRedactor } from '../core/identity/index.ts';
import { archiveCycle, cancelCycle, completeCycle, startCycle } from './advance.ts';
import { NO_CONFIG } from './config.ts';
import { configOf } from './config-file.ts';
import {
  cyclesArchive,
  cyclesCancel,
  cyclesCloseSession,
  cyclesComplete,
  cyclesHandoff,
  cyclesHandoffs,
  cyclesList,
  cyclesSessions,
  cyclesShow,
  cyclesStart,
  cycleView,
  handoffView,
  sessionView,
} from './contract.ts';
import { archivePath } from './files.ts';
import { timesTaken } from './machine.ts';
import { type Mirror, withMirror } from './mirror.ts';
import { HANDOFF_LISTS, type HandoffPayload } from './payload.ts';
import { type CycleOutside, repositoryOf } from './place.ts';
import { findSession, sessionsIn } from './role-sessions.ts';
import { activeCycle, findCycle, handoffTargets, handoffWithPrevious, listCycles, pageOfHandoffs, recentHandoffs, type StoredCycle } from './store.ts';
import { completionOf, requireCycle, requireFinal } from './turn.ts';

interface CycleReference {
  readonly id?: string | undefined;
  readonly repository_path?: string | undefined;
}

interface CycleTarget {
  readonly repository: string;
  /** The cycle that the call names by id. If undefined, the active cycle of the repository is meant. */
  readonly named: StoredCycle | undefined;
}

/** Hides who a private developer is. Other people only see that a private developer is at work. */
const redactorFor = ({ reader, workspace, principal }: CallContext) => valueRedactor(reader, workspace, principal);

/** What people do with cycles on the dashboard and on the command line. No reply contains a token. */
export function cycleActions(outside: CycleOutside, mirror: Mirror): Implementation[] {
  const place = (input: CycleReference, ctx: Pick<CallContext, 'repository'>) => repositoryOf(outside, input.repository_path, ctx);
  /** The repository to filter by. Undefined means all repositories. */
  const filter = async (input: CycleReference, ctx: CallContext) => (input.repository_path === undefined ? undefined : await place(input, ctx));
  const byId = async (id: string, ctx: CallContext): Promise<StoredCycle> => {
    const cycle = await findCycle(ctx.reader, ctx.workspace, id);
    if (!cycle) throw notFound('CYCLE_NOT_FOUND', `No cycle has the id ${JSON.stringify(id)}.`, 'Run `covenant cycle history` for the ids.', 'id');
    return cycle;
  };
  const targetOf = async ({ id, ...input }: CycleReference, ctx: CallContext): Promise<CycleTarget> => {
    if (id === undefined) return { repository: await place(input, ctx), named: undefined };
    if (input.repository_path !== undefined)
      throw invalidInput([{ field: 'repository_path', message: 'cannot be combined with `id`, which already names the repository' }]);
    const named = await byId(id, ctx);
    return { repository: named.repository, named };
  };
  /** Changes the active cycle. If the call identifies a cycle that has ended, it is refused, so that it does not change the next cycle by mistake. */
  const changeActive = async ({ repository, named }: CycleTarget, ctx: CallContext, change: (tx: Tx, cycle: StoredCycle) => Promise<StoredCycle>) => {
    const after = await ctx.write(async (tx) => {
      const cycle = await activeCycle(tx.db, tx.workspace, repository);
      if (named && named.id !== cycle?.id) throw hasEnded(named);
      return await change(tx, requireCycle(cycle, repository));
    });
    return await withMirror(mirror, repository, ok({ cycle: viewCycle(after) }));
  };
  return [
    implement(cyclesList, {
      read: async (input, ctx) => {
        const { rows, total } = await listCycles(ctx.reader, ctx.workspace, { ...input, repository: await filter(input, ctx) });
        return ok(await (await redactorFor(ctx))({ items: rows.map(viewCycle), total }));
      },
    }),
    implement(cyclesShow, {
      read: async (input, ctx) => {
        const { repository, named } = await targetOf(input, ctx);
        const cycle = named ?? (await activeCycle(ctx.reader, ctx.workspace, repository));
        let config_error = null as string | null;
        const config = await configOf(outside, repository).catch((error: unknown) => {
          config_error = error instanceof Error ? error.message : String(error);
          return NO_CONFIG;
        });
        const sessions = await sessionsIn(ctx.reader, ctx.workspace, repository);
        const redact = await redactorFor(ctx);
        const handoffs = cycle ? await recentHandoffs(ctx.reader, cycle, input.handoffs) : { rows: [], total: 0 };
        return ok({
          repository,
          cycle: cycle ? await redact(viewCycle(cycle)) : null,
          machine: cycle?.machine ?? config.machine,
          taken: cycle
            ? timesTaken(cycle.machine, await handoffTargets(ctx.reader, cycle), cycle.completed_at !== null)
            : config.machine.transitions.map(() => 0),
          handoffs: handoffs.rows.map(viewHandoff),
          handoffs_total: handoffs.total,
          sessions: await redact(sessions.map((session) => viewSession(session, ctx.clock.now()))),
          config_error,
        });
      },
    }),
    implement(cyclesHandoffs, {
      read: async ({ id, before, limit }, ctx) => {
        const { rows, total } = await pageOfHandoffs(ctx.reader, await byId(id, ctx), { before, limit });
        return ok({ items: rows.map(summariseHandoff), total });
      },
    }),
    implement(cyclesHandoff, {
      read: async ({ id, number }, ctx) => {
        const cycle = await byId(id, ctx);
        const found = await handoffWithPrevious(ctx.reader, cycle, number);
        if (!found)
          throw notFound(
            'HANDOFF_NOT_FOUND',
            `The cycle ${cycle.cycle_id} has no handoff ${number}.`,
            `Call cycles.handoffs with \`id\` ${JSON.stringify(cycle.id)} for its handoffs.`,
            'number',
          );
        return ok({ handoff: viewHandoff(found.handoff), previous: found.previous ? viewHandoff(found.previous) : null });
      },
    }),
    implement(cyclesStart, {
      run: async ({ feature, mode, ...input }, ctx) => {
        const repository = await place(input, ctx);
        const config = await configOf(outside, repository);
        const cycle = await ctx.write((tx) => startCycle(tx, ctx, { repository, feature, mode, config }));
        return await withMirror(mirror, repository, ok({ cycle: viewCycle(cycle) }));
      },
    }),
    implement(cyclesComplete, {
      run: async (input, ctx) => changeActive(await targetOf(input, ctx), ctx, (tx, cycle) => completeCycle(tx, ctx, cycle, completionOf(cycle))),
    }),
    implement(cyclesArchive, {
      run: async (input, ctx) => {
        const target = await targetOf(input, ctx);
        const config = await configOf(outside, target.repository);
        return await changeActive(target, ctx, async (tx, cycle) => {
          requireFinal(cycle);
          return await archiveCycle(tx, ctx, cycle, config);
        });
      },
    }),
    implement(cyclesCancel, {
      run: async ({ reason, ...input }, ctx) => changeActive(await targetOf(input, ctx), ctx, (tx, cycle) => cancelCycle(tx, ctx, cycle, reason)),
    }),
    implement(cyclesSessions, {
      read: async (input, ctx) => {
        const sessions = await sessionsIn(ctx.reader, ctx.workspace, await filter(input, ctx));
        return ok(await (await redactorFor(ctx))({ items: sessions.map((session) => viewSession(session, ctx.clock.now())) }));
      },
    }),
    implement(cyclesCloseSession, {
      write: async (tx, { session_id }, ctx) => {
        const session = await findSession(tx.db, tx.workspace, session_id);
        if (!session) {
          throw notFound(
            'SESSION_NOT_FOUND',
            `No role session has the id ${JSON.stringify(session_id)}.`,
            'Run `covenant cycle sessions` for the ids.',
            'session_id',
          );
        }
        if (session.closed_at !== null) return ok(viewSession(session, tx.now));
        const { actor } = ctx.principal;
        const closed = { closed_at: tx.now, closed_by: actor };
        await changeRows(tx.db, 'role_sessions', { workspace_id: tx.workspace, id: session.id }, closed);
        record(tx, ctx, {
          category: 'audit',
          kind: 'cycle.session_closed',
          subject: session.id,
          payload: { repository: session.repository, role: session.role },
        });
        return ok(viewSession({ ...session, ...closed }, tx.now));
      },
    }),
  ];
}

function hasEnded({ cycle_id }: StoredCycle): Refusal {
  const next = 'Run `covenant cycle history` to see how it ended. No further call is needed.';
  return new Refusal('NO_ACTIVE_CYCLE', `The cycle ${cycle_id} has already ended.`, next, { cycle_id });
}

const viewCycle = (cycle: StoredCycle) => view(cycleView, cycle, { archive: cycle.status === 'archived' ? archivePath(cycle) : null });

function viewSession(session: RoleSessionRow, now: number) {
  const status = session.closed_at !== null ? 'closed' : session.expires_at <= now ? 'expired' : 'open';
  return view(sessionView, session, { session_id: session.id, status });
}

const viewHandoff = (handoff: CycleHandoffRow) => view(handoffView, handoff, {});

function summariseHandoff(row: CycleHandoffRow): Output<typeof cyclesHandoffs>['items'][number] {
  const { payload, ...shown } = viewHandoff(row);
  const lists = payload as HandoffPayload;
  const counts = Object.fromEntries(HANDOFF_LISTS.map((name) => [name, lists[name].length])) as Record<(typeof HANDOFF_LISTS)[number], number>;
  return { ...shown, counts };
}
