import { expect, test } from 'vitest';
import { testApp } from '../../../testing/app.ts';
import type { Client } from '../client.ts';
import type { Invocation } from '../command.ts';
import { createOutput } from '../output.ts';
import { auditCommands } from './audit.ts';

test('reports that the journal was pruned during its verification, and does not report a break in the chain', async () => {
  const t = await testApp();
  const { workspace } = t.operator.principal;
  const made = { category: 'work' as const, kind: 'note.made', actor: 'operator' };
  await t.app.store.append(
    workspace,
    Array.from({ length: 2_500 }, () => made),
  );
  t.clock.advance(1_000);
  let calls = 0;
  const action: Client['action'] = async (name, args = {}) => {
    if (++calls === 2) await t.done('journal.prune', { before: t.clock.now() });
    return (await t.done(name, args)) as Record<string, unknown>;
  };
  const invocation = {
    env: { COVENANT_HOME: t.database.home },
    cwd: '/',
    json: true,
    values: {},
    positionals: [],
    out: createOutput({}, process.stdout, process.stderr),
  };
  const verify = auditCommands.find(({ name }) => name === 'audit verify');
  const run = () => verify?.run({ ...invocation, client: async () => ({ action }) as Client } satisfies Invocation);
  await expect(run()).rejects.toMatchObject({ code: 'JOURNAL_PRUNED', next: expect.stringContaining('again') });
  expect(await run()).toMatchObject({ exit: 0, json: { valid: true } });
});
