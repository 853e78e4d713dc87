import { z } from 'zod';
import { record } from '../kernel/call.ts';
import { contract } from '../kernel/contract.ts';
import { ok, Refusal, refused } from '../kernel/reply.ts';
import { type Feature, implement } from '../kernel/tool.ts';

const base = { name: 'covibe_fixture', toolset: 'team', title: 'Fixture', about: 'Does what a test needs.' } as const;
const output = z.strictObject({ seen: z.string() });

const look = contract({
  ...base,
  operation: 'look',
  description: 'Reads.',
  input: z.strictObject({ what: z.string().optional() }),
  output,
  annotations: { readOnlyHint: true },
});
const change = contract({
  ...base,
  operation: 'change',
  description: 'Writes.',
  input: z.strictObject({ what: z.string(), fail: z.enum(['refuse', 'crash', 'block', 'wrong']).optional() }),
  output,
});
const hang = contract({ ...base, operation: 'hang', description: 'Never answers.', input: z.strictObject({}), output });
const wait = contract({ ...base, operation: 'wait', description: 'Answers when released.', input: z.strictObject({}), output });
const effect = contract({ ...base, operation: 'effect', description: 'Acts until its time is up, then settles.', input: z.strictObject({}), output });
const twice = contract({ ...base, operation: 'twice', description: 'Writes, acts, writes.', input: z.strictObject({}), output });

const waiting = new Set<() => void>();

export const waitingCalls = (): number => waiting.size;

/** Makes all pending calls of `wait` return. */
export function releaseWaiting(): void {
  for (const release of waiting) release();
  waiting.clear();
}

/** A feature for tests of the pipe. It has every kind of handler and returns every kind of result. */
export const fixtureFeature: Feature = {
  name: 'fixture',
  implementations: [
    implement(look, { read: async ({ what }) => ok({ seen: what ?? 'nothing' }) }),
    implement(change, {
      write: async (tx, { what, fail }, ctx) => {
        await tx.db.insertInto('workspaces').values({ id: what, name: what, created_at: tx.now }).execute();
        record(tx, ctx, { category: 'work', kind: 'fixture.changed', subject: what });
        if (fail === 'refuse') throw new Refusal('FIXTURE_REFUSED', 'Refused by a rule.', 'Call something else.');
        if (fail === 'crash') throw new Error('secret inside: cv_0123456789012345678901234567890123456789012');
        if (fail === 'wrong') return ok({ unseen: what } as never);
        if (fail === 'block') return refused('blocked', 'FIXTURE_BLOCKED', 'Blocked, and stored.', 'Confirm.');
        return ok({ seen: what });
      },
    }),
    implement(hang, { run: () => new Promise(() => {}) }),
    implement(wait, {
      run: () =>
        new Promise((resolve) => {
          waiting.add(() => resolve(ok({ seen: 'released' })));
        }),
    }),
    implement(effect, {
      run: async (_input, ctx) => {
        await ctx.write(async (tx) => record(tx, ctx, { category: 'work', kind: 'fixture.intended' }));
        await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
        await ctx.settle(async (tx) => record(tx, ctx, { category: 'work', kind: 'fixture.settled' }));
        return ok({ seen: 'late' });
      },
    }),
    implement(twice, {
      run: async (_input, ctx) => {
        await Promise.all([
          ctx.write(async (tx) => record(tx, ctx, { category: 'work', kind: 'fixture.intended' })),
          ctx.write(async (tx) => record(tx, ctx, { category: 'work', kind: 'fixture.settled' })),
        ]);
        return ok({ seen: 'both' });
      },
    }),
  ],
};
