import { expect, test } from 'vitest';
import { covenant, direct, startProgram } from '../../src/testing/programs/program.ts';
import { SAME_THUMBNAILS, THUMBNAILS } from '../../src/testing/scenes/team.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

test('lists and releases claims, and lists and dismisses overlaps, at the command line', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  const run = (...args: string[]) => covenant(at, ...args);
  const { json: ana } = await run('tokens', 'create', '--developer', 'ana', '--agent', 'codex', '--json');
  const call = async (tool: string, args: Record<string, unknown>) =>
    (await direct(server.url, String(ana.token), tool, args)).body as { data: { claim_id: string; warning_id: string } };

  const { claim_id } = (await call('covibe_coordination', { operation: 'claim', repo: 'acme/shop', paths: ['src/**', 'a\u202Eb'] })).data;
  const listed = await run('claims', 'list', '--repository', 'shop');
  expect(listed.stdout).toContain(`${claim_id}  exclusive  codex@ana`);
  expect(listed.stdout).toContain('acme/shop: src/**, a\\u202eb');
  expect((await run('claims', 'release', claim_id.slice(-8), '--json')).json).toEqual({ kind: 'claim_released', claim_id });
  expect(await run('claims', 'release', claim_id, '--json')).toMatchObject({ code: 1, json: { kind: 'error', code: 'CLAIM_ALREADY_RELEASED' } });

  await call('covibe_task', { operation: 'plan', ...THUMBNAILS });
  const { warning_id } = (await call('covibe_task', { operation: 'check', ...SAME_THUMBNAILS })).data;
  expect((await run('overlap', 'list', '--open')).stdout).toContain(`ana: ${SAME_THUMBNAILS.title} / ana: ${THUMBNAILS.title}`);
  expect((await run('overlap', 'dismiss', warning_id)).code).toBe(2);
  expect(await run('overlap', 'dismiss', warning_id, '--reason', 'We talked')).toMatchObject({ code: 0, stdout: `Dismissed ${warning_id}.\n` });
  expect((await run('overlap', 'list', '--open')).stdout).toBe('No overlap waits for a judgement.\n');
});
