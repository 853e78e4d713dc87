import fc from 'fast-check';
import { expect, test } from 'vitest';
import { patience, runs } from '../../../testing/runs.ts';
import { edit, hooksApp, MINUTE } from '../../../testing/scenes/hooks.ts';
import { inRun } from '../../../testing/scope.ts';
import { covering } from '../../team/coordination/conflicts.ts';
import { pathOf } from '../../team/coordination/globs.ts';

const PATTERNS = ['src/**', 'docs', '**/b.md'];
const FILES = ['src/a.ts', 'docs/b.md', 'docs/c.md'];
const RUNS = ['ana-1', 'ana-2', 'ana-codex', 'ben'] as const;

/** The session of a claim: the session of the run, no session, or a session that the agent started and that its hooks do not know. */
type In = 'run' | 'none' | 'own';
type Step =
  | { do: 'claim'; by: number; pattern: string; ttl: number; in: In }
  | { do: 'release'; which: number }
  | { do: 'start'; by: number }
  | { do: 'end'; by: number }
  | { do: 'bind'; by: number }
  | { do: 'edit'; by: number; file: string; person: boolean }
  | { do: 'wait'; seconds: number };

const by = fc.constantFrom(0, 0, 1, 1, 2, 3);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      by,
      pattern: fc.constantFrom(...PATTERNS),
      ttl: fc.constantFrom(10, 60),
      in: fc.constantFrom<In>('run', 'run', 'none', 'own'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('edit' as const), by, file: fc.constantFrom(...FILES), person: fc.constantFrom(false, false, true) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), which: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('start' as const, 'end' as const, 'bind' as const), by }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(5, 25, 6 * 60, 9 * 60, 31 * 60) }) },
);

interface Run {
  session: string | null;
  automatic: boolean;
  seen: number;
  ended: boolean;
}

interface Claim {
  readonly owner: number;
  readonly session: string | null;
  readonly pattern: string;
  readonly ttl: number;
  until: number;
}

/** Two runs of one agent, another agent of the same developer, and another developer's agent. */
test(
  'through any sequence of runs, sessions and claims, an edit is denied exactly if an active agent other than the caller claims it',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 60, maxLength: 100, size: 'max' }),
        inRun(async (steps) => {
          const t = await hooksApp();
          const callers = [t.claude, t.claude, t.codex, t.cursor];
          const callerOf = (index: number) => callers[index] as (typeof callers)[number];
          const actorOf = (index: number) => callerOf(index).principal.actor;
          const developerOf = (index: number) => callerOf(index).principal.developerId;
          const claims = new Map<string, Claim>();
          const runs = new Map<number, Run>();
          const ended = new Set<string>();
          const now = () => t.clock.now();
          const endSession = (session: string | null) => {
            if (session === null) return;
            ended.add(session);
            for (const [id, claim] of claims) if (claim.session === session) claims.delete(id);
          };
          const live = () => [...claims.values()].filter(({ until }) => until > now());
          const keep = (index: number, session: string | null) => {
            for (const claim of live()) {
              const isKept = claim.session === null ? actorOf(claim.owner) === actorOf(index) : claim.session === session;
              if (isKept) claim.until = Math.max(claim.until, now() + claim.ttl * MINUTE);
            }
          };
          const ownSession = async (index: number): Promise<string> => {
            keep(index, null);
            return await t.session(callerOf(index));
          };
          /** Models a hook of the run: the run is active again and keeps its claims. */
          const heard = (index: number, bound?: string): Run => {
            const run = runs.get(index) ?? { session: null, automatic: false, seen: Number.NEGATIVE_INFINITY, ended: false };
            runs.set(index, run);
            if (!run.ended && now() - run.seen < 20_000 && (bound ?? run.session) === run.session) return run;
            Object.assign(run, { seen: now(), ended: false });
            if (bound !== undefined && bound !== run.session) {
              if (run.automatic) endSession(run.session);
              Object.assign(run, { session: bound, automatic: false });
            }
            keep(index, run.session);
            return run;
          };
          const isOwn = (claim: Claim, index: number, person: boolean): boolean => {
            if (person) return developerOf(claim.owner) === developerOf(index);
            if (claim.session !== null && claim.session === runs.get(index)?.session) return true;
            const others = [...runs].filter(
              ([other, run]) => other !== index && actorOf(other) === actorOf(index) && !run.ended && now() - run.seen <= 30 * MINUTE,
            );
            return actorOf(claim.owner) === actorOf(index) && !others.some(([, run]) => claim.session !== null && run.session === claim.session);
          };

          const begun: Step[] = [
            { do: 'start', by: 0 },
            { do: 'start', by: 1 },
          ];
          for (const one of [...begun, ...steps]) {
            if (one.do === 'wait') t.clock.advance(one.seconds * 1_000);
            else if (one.do === 'release') {
              const [id, claim] = [...claims].filter(([, { until }]) => until > now())[one.which] ?? [];
              if (id && claim) await t.call('covibe_coordination', 'release', { claim_id: id }, callerOf(claim.owner));
              if (id) claims.delete(id);
            } else {
              const caller = callerOf(one.by);
              const run = { client_session: RUNS[one.by] };
              if (one.do === 'claim') {
                const session = one.in === 'none' ? null : one.in === 'own' ? await ownSession(one.by) : (runs.get(one.by)?.session ?? null);
                const input = { repo: 'github.com/acme/app', paths: [one.pattern], ttl_minutes: one.ttl, ...(session ? { session_id: session } : {}) };
                const { status, data } = await t.call('covibe_coordination', 'claim', input, caller);
                if (status === 'ok') {
                  const kept = session ?? claims.get(data.claim_id)?.session ?? null;
                  claims.set(data.claim_id, { owner: one.by, session: kept, pattern: one.pattern, ttl: one.ttl, until: data.expires_at });
                }
              } else if (one.do === 'start') {
                const known = heard(one.by);
                const { session_id } = await t.hear('session-start', run, caller);
                if (known.session !== null && !ended.has(known.session)) expect(session_id).toBe(known.session);
                else Object.assign(known, { session: session_id, automatic: true });
              } else if (one.do === 'end') {
                await t.hear('session-end', run, caller);
                const known = runs.get(one.by);
                if (known && !known.ended) {
                  endSession(known.session);
                  Object.assign(known, { ended: true, seen: now() });
                }
              } else if (one.do === 'bind') {
                const session_id = await ownSession(one.by);
                heard(one.by, session_id);
                expect((await t.hear('after-tool', { ...run, session_id }, caller)).session_id).toBe(session_id);
              } else if (one.do === 'edit') {
                if (!one.person) heard(one.by);
                const inTheWay = live().some((claim) => covering([claim.pattern])(pathOf(one.file)) && !isOwn(claim, one.by, one.person));
                const asked = one.person
                  ? t.hear('commit', { ...edit(one.file), client: 'git', client_session: undefined, person: true }, caller)
                  : t.hear('before-tool', { ...edit(one.file), ...run }, caller);
                expect((await asked).decision).toBe(inTheWay ? 'deny' : 'allow');
              }
            }
          }
        }),
      ),
      runs(8),
    );
  },
  patience(120_000),
);
