import { expect, test } from 'vitest';
import type { Invocation } from '../command.ts';
import { UsageError } from '../command.ts';
import { auditCommands } from './audit.ts';

const ANCHOR = { seq: 7, hash: 'a'.repeat(64) };
const STAGES = ['verifying', 'verifying', 'done'] as const;

async function ran(values: Record<string, string | boolean>) {
  const asked: Record<string, unknown>[] = [];
  const client = {
    async action(_: string, input: Record<string, unknown>) {
      asked.push(input);
      const stage = STAGES[(asked.length - 1) % STAGES.length];
      return { stage, before: 1_000, anchor: ANCHOR, verified_to: 7, pruned: stage === 'done' ? 5 : 0, remaining: 2 };
    },
  };
  const out = { note: () => {}, mark: { good: '✓', bad: '✗' } };
  const result = await auditCommands
    .find(({ name }) => name === 'audit prune')
    ?.run({ values, json: false, out, client: async () => client } as unknown as Invocation);
  return { asked, ...result };
}

test('counts the events first, then repeats the prune call with the same time until all counted events are deleted', async () => {
  const dry = await ran({ keep: '40', 'dry-run': true });
  expect(dry.asked).toEqual([{ keep_days: 40, dry_run: true }, ...Array(2).fill({ before: 1_000, dry_run: true })]);
  expect(dry).toMatchObject({
    json: { kind: 'journal_pruned', dry_run: true, events: 7 },
    text: expect.stringContaining('7 events before 1970-01-01T00:00:01.000Z, up to event 7'),
  });
  const done = await ran({ before: '2026-03-01', yes: true });
  expect(done.asked).toEqual([
    { before: Date.UTC(2026, 2, 1), dry_run: true },
    ...Array(2).fill({ before: 1_000, dry_run: true }),
    ...Array(3).fill({ before: 1_000 }),
  ]);
  expect(done).toMatchObject({ json: { dry_run: false, events: 7, anchor: ANCHOR }, text: expect.stringContaining('begins at event 8, anchored at event 7') });
});

test('refuses an invalid date or number of days, and a call with both or with neither', async () => {
  const wrong: Record<string, string>[] = [{}, { before: 'spring' }, { before: '2026-13-01' }, { before: '2026-03' }, { keep: '0' }, { keep: '1.5' }];
  for (const values of [...wrong, { keep: '40', before: '2026-01-01' }]) await expect(ran(values), JSON.stringify(values)).rejects.toThrow(UsageError);
  for (const before of ['2026-03-01T12:00Z', '2026-03-01T12:00:00.5+01:00']) expect((await ran({ before, yes: true })).json).toMatchObject({ events: 7 });
});
