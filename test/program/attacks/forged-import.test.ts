import { hash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GEMINI_AND_CODEX } from '../../../src/features/cycle/machine.ts';
import { createAgentHost } from '../../../src/machine/agent-sessions/agent-host.ts';
import { newId } from '../../../src/storage/rows.ts';
import { covenant, startProgram } from '../../../src/testing/programs/program.ts';
import { temporaryRepository } from '../../../src/testing/scenes/repository.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';
import { forgedExport } from '../../../src/testing/store/transfer.ts';

const NOW = Date.now();
const id = (prefix: string) => newId(prefix, NOW);
const SECRET = `cv_${'A'.repeat(43)}`;

/** Creates an export of the workspace `shop` by an honest server, and another server that will import it. */
async function place() {
  const files = temporaryFolder();
  const from = { home: temporaryFolder(), cwd: files };
  await covenant(from, 'developers', 'add', 'mallory', '--workspace', 'shop');
  const made = await covenant(from, 'tokens', 'create', '--developer', 'mallory', '--workspace', 'shop', '--json');
  expect(made.code).toBe(0);
  expect((await covenant(from, 'export', 'honest.jsonl', '--workspace', 'shop')).code).toBe(0);
  const clock = join(files, 'clock');
  writeFileSync(clock, String(NOW));
  const to = { home: temporaryFolder(), cwd: files, env: { COVENANT_TEST_CLOCK: clock } };
  const forge = (...more: Parameters<typeof forgedExport>[1]) =>
    writeFileSync(join(files, 'forged.jsonl'), forgedExport(readFileSync(join(files, 'honest.jsonl'), 'utf8'), more));
  return { files, clock, to, forge };
}

const token = (kind: string, more: Record<string, string | null> = {}) =>
  ({
    table: 'tokens',
    row: { id: id('tok'), hash: hash('sha256', `${SECRET}${kind === 'operator' ? '' : kind}`), kind, label: kind, created_by: 'x', created_at: NOW, ...more },
  }) as const;

test("the author of an imported file becomes neither operator nor anyone's browser session [harden.import.never-brought] [harden.import.left-out]", async () => {
  const { to, forge } = await place();
  const link = { table: 'signin_links', row: { hash: hash('sha256', 'link'), developer_id: id('dev'), created_at: NOW, expires_at: NOW + 9e9 } } as const;
  const device = {
    table: 'device_grants',
    row: { id: id('dvc'), user_code: 'ABCDEFGH', device_code_hash: hash('sha256', 'd'), agents: '["codex"]', status: 'approved', expires_at: NOW + 9e9 },
  } as const;
  forge(token('operator'), token('web', { developer_id: id('dev') }), token('instance', { instance_id: 'work-1-a1' }), link, device);

  const taken = await covenant(to, 'import', 'forged.jsonl', '--json');
  expect(taken.code).toBe(0);
  const server = await startProgram(to);
  for (const workspace of ['default', 'shop']) {
    const headers = { authorization: `Bearer ${SECRET}`, 'x-covenant-workspace': workspace, 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}/api/actions/tokens.list`, { method: 'POST', headers, body: '{}' });
    expect([workspace, answer.status]).toEqual([workspace, 401]);
  }
  const { items } = (await covenant(to, 'tokens', 'list', '--workspace', 'shop', '--json')).json as { items: { kind: string }[] };
  expect(items.map(({ kind }) => kind)).toEqual(['developer']);
  expect(taken.json.left_out).toEqual({ operator_tokens: 1, web_tokens: 1, instance_tokens: 1, signin_links: 1, device_approvals: 1 });
});

test('no sweep touches a folder on this machine because of imported rows, whatever step they name [harden.import.rows-validated]', async () => {
  const { to, clock, forge } = await place();
  const repo = temporaryRepository();
  const worktree = `${repo.path}-worktrees/work-1-a1`;
  repo.git(['worktree', 'add', '--quiet', '-b', 'work/work-1-a1', worktree]);
  repo.write('.mcp-broker/handoff/codex.json', '{"precious":true}');
  const step = { step_until: 1, created_at: 1, updated_at: 1 };
  const cycle = {
    ...{ id: id('cyc'), repository: repo.path, cycle_id: '20260220T215622Z_x', status: 'cancelled', machine: JSON.stringify(GEMINI_AND_CODEX) },
    ...{ phase: 'frontend', active_role: 'gemini', lock_role: 'gemini', lock_token: 'x', revision: 2, mirrored: 1 },
  };
  forge(
    { table: 'cycles', row: cycle },
    {
      table: 'worktrees',
      row: {
        ...{ id: id('ws'), workflow_id: id('wf'), status: 'merged', path: worktree, repository_path: repo.path, branch: 'work/work-1-a1', base_branch: 'main' },
        ...{ made_by_server: 1, step: 'removing', ...step },
      },
    },
    {
      table: 'instances',
      row: {
        ...{ id: 'work-1-a1', type: 'coding', status: 'terminated', agent: 'claude', agent_id: id('ag'), machine: createAgentHost(to.home).machine },
        ...{ repository: repo.path, worktree_path: worktree, branch_name: 'work/work-1-a1', base_branch: 'main', session_name: 'work-1-a1' },
        ...{ step: 'ending', step_data: '{"force":true}', ...step },
      },
    },
  );
  const taken = await covenant(to, 'import', 'forged.jsonl', '--json');
  expect(taken.code).toBe(0);
  const server = await startProgram(to);
  // Each time the clock advances, all sweeps run.
  for (let moved = 1; moved <= 5; moved++) {
    writeFileSync(clock, String(NOW + moved * 60_000));
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  expect(await server.stop()).toBe(0);
  expect(readdirSync(join(repo.path, '.mcp-broker'), { recursive: true }).sort()).toEqual(['handoff', 'handoff/codex.json']);
  expect(readdirSync(worktree)).toContain('file-0.txt');
  expect(repo.branches()).toContain('work/work-1-a1');
  expect(taken.json.left_out).toEqual({ pending_steps: 3 });
});

test('an imported token expires like one created here [harden.import.never-brought]', async () => {
  const { to, forge } = await place();
  forge(token('agent', { developer_id: id('dev'), agent_type: 'codex', expires_at: null }));
  expect((await covenant(to, 'import', 'forged.jsonl', '--json')).json).toMatchObject({ left_out: { longer_lifetimes: 1 } });
  const { items } = (await covenant(to, 'tokens', 'list', '--workspace', 'shop', '--json')).json as { items: { kind: string; expires_at: number | null }[] };
  expect(items.find(({ kind }) => kind === 'agent')?.expires_at).toBe(NOW + 90 * 24 * 3_600_000);
});

test('a file with a row that its feature would never write is refused with the number of the line, and nothing is imported [harden.import.rows-validated]', async () => {
  const { to, forge } = await place();
  const roles = ['gemini', '../../../precious'];
  const machine = {
    ...GEMINI_AND_CODEX,
    roles,
    phases: GEMINI_AND_CODEX.phases.map((phase) => ({ ...phase, role: phase.role === 'codex' ? roles[1] : phase.role })),
  };
  const cycle = {
    ...{ id: id('cyc'), repository: '/srv/app', cycle_id: '20260220T215622Z_x', status: 'active', machine: JSON.stringify(GEMINI_AND_CODEX) },
    ...{ phase: 'frontend', active_role: 'gemini', lock_role: 'gemini', lock_token: 'x', revision: 2, mirrored: 1 },
  };
  const forgeries = [
    [{ table: 'cycles', row: { ...cycle, machine: JSON.stringify(machine) } }, 'cycles.machine'],
    [{ table: 'cycles', row: { ...cycle, repository: '/srv/../etc' } }, 'cycles.repository'],
    [{ table: 'cycles', row: { ...cycle, cycle_id: '../../x' } }, 'cycles.cycle_id'],
    [{ table: 'cycles', row: { ...cycle, id: `cyc_7${'Z'.repeat(25)}` } }, 'cycles.id'],
    [{ table: 'developers', row: { id: 'dev_1', name: 'x', role: 'admin', visibility: 'team' } }, 'developers.id'],
    [{ table: 'developers', row: { id: id('dev'), name: 'x', role: 'root', visibility: 'team' } }, 'developers.role'],
    [token('agent', { developer_id: null, agent_type: 'codex' }), 'tokens.developer_id'],
    [{ table: 'grants', row: { id: id('grant'), subject: 'everybody', action: 'tool.call.echo', scope: '{}' } }, 'grants.subject'],
    [{ table: 'settings', row: { key: 'retention.days', value: '1' } }, 'settings.value'],
  ] as const;
  for (const [forgery, column] of forgeries) {
    forge(forgery);
    const { code, json } = await covenant(to, 'import', 'forged.jsonl', '--json');
    expect([code, json.code, json.message]).toEqual([1, 'ROW_REFUSED', expect.stringMatching(new RegExp(`^line \\d+: ${column.replace('.', '\\.')}: `))]);
  }
  expect((await covenant(to, 'export', 'after.jsonl', '--workspace', 'shop', '--json')).json).toMatchObject({ code: 'NOT_FOUND' });
});
