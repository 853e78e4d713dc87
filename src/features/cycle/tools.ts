import type { CallContext } from '../../kernel/call.ts';
import { ok } from '../../kernel/reply.ts';
import { type Implementation, implement } from '../../kernel/tool.ts';
import type { CycleHandoffRow } from '../../storage/schema-rows.ts';
import { archiveCycle, completeCycle, handOver, startCycle } from './advance.ts';
import { type CycleConfig, NO_CONFIG } from './config.ts';
import { configOf, configWithPsks, realConfig } from './config-file.ts';
import { cycleArchive, cycleComplete, cycleStart, cycleStatus, handoffRead, handoffWrite, lockAcquire, sessionOpen } from './contract.ts';
import { type Mirror, withMirror } from './mirror.ts';
import { openSession } from './open-session.ts';
import { type CycleOutside, repositoryOf } from './place.ts';
import { asRole, type RoleOperation } from './role-sessions.ts';
import { activeCycle, currentHandoffs } from './store.ts';
import { judgeAcquire, judgeArchive, judgeCompletion, judgeHandoff, requireTarget } from './turn.ts';

/** The eight tools of the contract. After each call, the files match the store again, even if an earlier call could not write them. */
export function cycleTools(outside: CycleOutside, mirror: Mirror): Implementation[] {
  const place = (input: { repository_path?: string | undefined }, ctx: CallContext) => repositoryOf(outside, input.repository_path, ctx);
  const placeWithPsks = async (input: { repository_path?: string | undefined }, ctx: CallContext) => {
    const repository = await place(input, ctx);
    return { repository, config: await configWithPsks(outside, repository) };
  };
  /** Checks the session token, changes the cycle in the role of that session, and then writes the files. */
  const byRole = async <J, T extends object>(
    input: { session_token: string; repository_path?: string | undefined },
    ctx: CallContext,
    action: (where: { repository: string; config: CycleConfig }) => RoleOperation<J, T>,
  ) => {
    const where = await placeWithPsks(input, ctx);
    const reply = await asRole(ctx, { ...where, ...action(where), sessionToken: input.session_token });
    return await withMirror(mirror, where.repository, reply);
  };
  return [
    implement(sessionOpen, {
      run: async (input, ctx) => {
        const { repository, config } = await placeWithPsks(input, ctx);
        const reply = await openSession(ctx, { repository, config, source: await realConfig(repository) }, input);
        await mirror.sync(repository);
        return reply;
      },
    }),
    implement(cycleStart, {
      run: async ({ feature, mode, ...input }, ctx) => {
        const repository = await place(input, ctx);
        const config = await configOf(outside, repository);
        const { cycle_id, phase, active_role, lock_token } = await ctx.write((tx) => startCycle(tx, ctx, { repository, feature, mode, config }));
        return await withMirror(mirror, repository, ok({ cycle_id, phase, active_role, lock_token }));
      },
    }),
    implement(cycleStatus, {
      run: async (input, ctx) => {
        const repository = await place(input, ctx);
        const cycle = await activeCycle(ctx.reader, ctx.workspace, repository);
        if (!cycle) {
          // The status is available even if the config is invalid. Calls that need the config fail in that case.
          const { machine, mode } = await configOf(outside, repository).catch(() => NO_CONFIG);
          const idle = { cycle_id: null, feature: null, phase: null, active_role: null, mode, handoffs: handoffStatuses(machine.roles, new Map()) };
          return await withMirror(mirror, repository, ok({ ...idle, lock: { locked: false, role: null } }));
        }
        const { cycle_id, feature, phase, active_role, mode, machine, lock_role } = cycle;
        const handoffs = handoffStatuses(machine.roles, await currentHandoffs(ctx.reader, cycle));
        return await withMirror(mirror, repository, ok({ cycle_id, feature, phase, active_role, mode, handoffs, lock: { locked: true, role: lock_role } }));
      },
    }),
    implement(lockAcquire, {
      run: (input, ctx) =>
        byRole(input, ctx, ({ repository }) => ({
          judge: (cycle, role) => judgeAcquire(cycle, repository, role),
          apply: async (_, { cycle_id, lock_role, lock_token }) => ok({ cycle_id, role: lock_role, lock_token }),
        })),
    }),
    implement(handoffRead, {
      run: async ({ target, ...input }, ctx) => {
        const repository = await place(input, ctx);
        const cycle = await activeCycle(ctx.reader, ctx.workspace, repository);
        const { roles } = cycle?.machine ?? (await configOf(outside, repository)).machine;
        requireTarget(roles, target);
        await mirror.sync(repository);
        const handoff = cycle && (await currentHandoffs(ctx.reader, cycle)).get(target);
        return ok(handoff ? (JSON.parse(handoff.payload) as Record<string, unknown>) : {});
      },
    }),
    implement(handoffWrite, {
      run: (input, ctx) =>
        byRole(input, ctx, ({ repository, config }) => ({
          judge: (cycle, role) =>
            judgeHandoff(cycle, repository, role, { ...input, secrets: [input.lock_token, input.session_token, ...config.psks.values()] }),
          apply: async (tx, cycle, { to, payload }) => {
            const { phase, active_role } = await handOver(tx, ctx, cycle, to, payload);
            return ok({ ok: true as const, phase, active_role, next_step: `Provide lock_token to ${active_role}` });
          },
        })),
    }),
    implement(cycleComplete, {
      run: (input, ctx) =>
        byRole(input, ctx, ({ repository }) => ({
          judge: (cycle, role) => judgeCompletion(cycle, repository, role, input.lock_token),
          apply: async (tx, cycle, to) => {
            const { phase, active_role } = await completeCycle(tx, ctx, cycle, to);
            return ok({ ok: true as const, phase, active_role });
          },
        })),
    }),
    implement(cycleArchive, {
      run: (input, ctx) =>
        byRole(input, ctx, ({ repository, config }) => ({
          judge: (cycle, role) => judgeArchive(cycle, repository, role, input.lock_token),
          apply: async (tx, cycle) => {
            const { cycle_id, ended_at } = await archiveCycle(tx, ctx, cycle, config);
            return ok({ ok: true as const, archived_at: new Date(ended_at as number).toISOString(), cycle_id });
          },
        })),
    }),
  ];
}

const handoffStatuses = (roles: readonly string[], handoffs: ReadonlyMap<string, CycleHandoffRow>) =>
  Object.fromEntries(roles.map((role) => [role, handoffStatus(handoffs.get(role))]));

const handoffStatus = (handoff: CycleHandoffRow | undefined) =>
  handoff ? { status: 'present' as const, updated_at: new Date(handoff.created_at).toISOString() } : { status: 'empty' as const, updated_at: null };
