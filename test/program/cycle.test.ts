import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { covenant, direct, type RunningCommand, startCommand, startProgram } from '../../src/testing/programs/program.ts';
import { brokerFile, readBroker } from '../../src/testing/scenes/cycle.ts';
import { temporaryRepository } from '../../src/testing/scenes/repository.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

type Fields = Record<string, unknown>;

/** Creates a home, and a repository in which the commands run. */
function place() {
  const { path } = temporaryRepository();
  const at = { home: temporaryFolder(), cwd: path };
  return { at, path, run: (...args: string[]) => covenant(at, 'cycle', ...args) };
}

/** Returns two agents that use the PSKs from `cycle init`. */
async function agents(at: ReturnType<typeof place>['at'], address: () => string) {
  const { agents: psks } = readBroker(at.cwd, 'config.json') as { agents: Record<string, { psk: string }> };
  const { token } = (await covenant(at, 'tokens', 'create', '--developer', 'ana', '--agent', 'gemini', '--json')).json;
  const call = async (tool: string, args: Fields = {}) => {
    const { body } = await direct(address(), String(token), tool, { repository_path: at.cwd, ...args });
    expect(body, JSON.stringify(body)).toMatchObject({ ok: true });
    return body.data as Record<string, string>;
  };
  return {
    open: async (role: string) => String((await call('session.open', { role, psk: psks[role]?.psk })).session_token),
    async handOver(session_token: string, producer: string, target: string, todos: string[]) {
      const { cycle_id, feature } = await call('cycle.status');
      const { lock_token } = await call('lock.acquire', { session_token });
      const lists = { files_modified: ['a.ts'], endpoints: [], data_shapes: [], assumptions: [], todos, notes: [] };
      const payload = { cycle_id, feature, producer, consumer: target, ...lists };
      await call('handoff.write', { session_token, lock_token, target, payload });
    },
  };
}

const parsed = async (command: RunningCommand): Promise<Fields> => JSON.parse((await command.line()) ?? 'null');

test('covenant cycle starts and cancels a cycle without a server [cycle.cli.helper] [cycle.cancel.operator]', async () => {
  const { at, path, run } = place();
  expect(await run('watch')).toMatchObject({ code: 1, stderr: expect.stringContaining('next: covenant up') });
  expect(existsSync(join(at.home, 'covenant.db'))).toBe(false);
  expect((await run('status')).stdout).toMatch(
    /No cycle is active in .+\n {4}next: covenant cycle start --feature checkout\n.+\n {4}next: covenant cycle init\n/,
  );
  expect(await run('init')).toMatchObject({ code: 0, stdout: expect.stringContaining(brokerFile(path, 'config.json')) });
  mkdirSync(join(path, 'src'));
  const { json } = await covenant({ ...at, cwd: join(path, 'src') }, 'cycle', 'start', '--feature', 'checkout', '--mode', 'auto', '--json');
  expect(json).toMatchObject({
    kind: 'cycle_started',
    cycle: { repository: path, feature: 'checkout', mode: 'auto', phase: 'frontend', active_role: 'gemini' },
  });
  expect(readBroker(path, 'state.json')).toMatchObject({ active: true, phase: 'frontend' });
  // The command does not ask for confirmation, because it does not run in a terminal.
  const { json: cancelled } = await run('cancel', '--reason', 'the API\nchanged', '--json');
  expect(cancelled).toMatchObject({ kind: 'cycle_cancelled', cycle: { status: 'cancelled', ended_by: 'operator' } });
  expect(readBroker(path, 'state.json')).toMatchObject({ active: false });
  expect((await run('history')).stdout).toMatch(/cancelled .+ checkout: the API changed\n$/);
});

test('covenant cycle follows agents with a server, and completes and archives for them [cycle.cli.helper]', async () => {
  const { at, path, run } = place();
  const { url } = await startProgram(at);
  await run('init');
  const watching = startCommand(at, 'cycle', 'watch', '--json');
  expect(await parsed(watching)).toMatchObject({ kind: 'cycle', cycle: null, repository: path });
  await run('start', '--feature', 'checkout');
  // The command must ignore the cycle of another repository.
  const elsewhere = realpathSync(temporaryFolder());
  expect((await run('start', '--feature', 'other', '--repo', elsewhere)).stdout).toContain(`next: covenant cycle init --repo ${elsewhere}`);
  const { open, handOver } = await agents(at, () => url);
  const gemini = await open('gemini');
  await handOver(gemini, 'gemini', 'codex', ['red\u001b[31m']);
  const event = async () => (await parsed(watching)).event as Fields;
  expect(await event()).toMatchObject({ kind: 'cycle.started', payload: { feature: 'checkout' } });
  expect(await event()).toMatchObject({ kind: 'cycle.session_opened', payload: { role: 'gemini' } });
  expect(await event()).toMatchObject({ kind: 'cycle.handed_over', payload: { from_phase: 'frontend', phase: 'backend', active_role: 'codex' } });

  const status = (await run('status')).stdout;
  expect(status).toMatch(/Turn {5}codex, has held the lock since [\s\S]+for codex {3}present, from gemini, \d+ \w ago: 1 file, 0 endpoints, 1 todo/);
  expect(status).toMatch(/gemini {2}rses_\w+ {2}opened by gemini of ana/);
  expect((await run('read', 'codex')).stdout).toContain('red\\u001b[31m');
  expect((await run('read', 'nobody', '--json')).json).toMatchObject({ kind: 'error', code: 'INVALID_TARGET' });
  expect((await run('start', '--feature', 'more', '--json')).json).toMatchObject({ kind: 'error', code: 'CYCLE_ALREADY_ACTIVE' });
  expect((await run('archive')).stderr).toMatch(/The cycle is in the phase backend.+\n {4}next: covenant cycle complete/);
  await handOver(await open('codex'), 'codex', 'gemini', []);
  expect((await run('complete', '--json')).json).toMatchObject({ kind: 'cycle_completed', cycle: { phase: 'complete' } });
  const { items } = (await run('sessions', '--json')).json as { items: { session_id: string; role: string }[] };
  expect(items.map(({ role }) => role)).toEqual(['codex', 'gemini']);
  const closed = await run('close-session', String(items[1]?.session_id).slice(-8), '--json');
  expect(closed.json).toMatchObject({ kind: 'role_session_closed', role: 'gemini', status: 'closed', closed_by: 'operator' });
  const { cycle } = (await run('archive', '--json')).json as { cycle: { archive: string; cycle_id: string } };
  expect(JSON.parse(readFileSync(join(cycle.archive, 'manifest.json'), 'utf8'))).toMatchObject({ feature: 'checkout', cycle_id: cycle.cycle_id });

  const kinds = [];
  for (let line = await watching.line(); line !== undefined; line = await watching.line()) kinds.push(JSON.parse(line).event.kind);
  expect(kinds).toEqual(['cycle.session_opened', 'cycle.handed_over', 'cycle.completed', 'cycle.session_closed', 'cycle.archived']);
  expect(await watching.ended).toBe(0);
  expect((await run('cancel', '--reason', 'late', '--json')).json).toMatchObject({ code: 'NO_ACTIVE_CYCLE', next: 'covenant cycle start --feature checkout' });
  for (const needed of [['start'], ['cancel'], ['read'], ['close-session']]) expect((await run(...needed)).code).toBe(2);
  expect((await run('history', '--json')).json).toMatchObject({ kind: 'cycle_list', total: 1, items: [{ status: 'archived', feature: 'checkout' }] });
  expect((await run('history', '--all', '--json')).json).toMatchObject({
    total: 2,
    items: [{ feature: 'other', repository: elsewhere }, { feature: 'checkout' }],
  });
  expect((await run('read', 'gemini', '--cycle', 'checkout', '--json')).json).toMatchObject({
    cycle_id: cycle.cycle_id,
    handoff: { producer: 'codex', number: 2 },
  });
});

test('after kill -9 of the server the status and the files agree, and cycle watch misses no event [cycle.cli.helper]', async () => {
  const { at, path, run } = place();
  let server = await startProgram(at);
  await run('init');
  await run('start', '--feature', 'checkout');
  const { open, handOver } = await agents(at, () => server.url);
  const sessions = { gemini: await open('gemini'), codex: await open('codex') };
  const watching = startCommand(at, 'cycle', 'watch', '--until', 'complete');
  const interrupted = startCommand(at, 'cycle', 'watch');
  const lines: string[] = [];
  const upTo = async (end: string) => {
    while (!lines.at(-1)?.includes(end)) lines.push((await watching.line()) ?? expect.fail(`it ended after\n${lines.join('\n')}`));
  };
  await upTo('Open sessions');
  // Wait until the command is running. If it started after the server has died, it would report that there is no server.
  await expect.poll(interrupted.notes, { timeout: 30_000 }).toContain('Stop with Ctrl-C');
  await handOver(sessions.gemini, 'gemini', 'codex', []);
  await upTo('turn of codex)');
  server.child.kill('SIGKILL');
  await expect.poll(watching.notes, { timeout: 30_000 }).toContain('The server does not answer');
  const files = () => ['state.json', 'lock.json', 'handoff/codex.json'].map((name) => readBroker(path, name));
  const before = files();
  server = await startProgram(at);
  const { cycle } = (await run('status', '--json')).json as { cycle: Fields };
  expect(files()).toEqual(before);
  expect(before).toMatchObject([{ cycle_id: cycle.cycle_id, phase: cycle.phase, active_role: 'codex' }, { role: cycle.lock_role }, { consumer: 'codex' }]);
  await handOver(sessions.codex, 'codex', 'gemini', []);
  await upTo('turn of gemini)');
  await expect.poll(watching.notes, { timeout: 30_000 }).toContain('The server is back');
  await run('complete');
  await upTo('completed the cycle');
  expect(await watching.ended).toBe(0);
  expect(lines.filter((line) => /^\d{4}-/.test(line)).map((line) => line.replace(/^\S+ /, ''))).toEqual([
    'gemini of ana: gemini handed over to codex (frontend → backend, turn of codex)',
    'gemini of ana: codex handed over to gemini (backend → frontend_refine, turn of gemini)',
    'the operator: completed the cycle (frontend_refine → complete, turn of gemini)',
  ]);
  expect(await run('watch', '--until', 'backwards', '--json')).toMatchObject({ code: 1, json: { kind: 'error', code: 'INVALID_PHASE' } });
  interrupted.child.kill('SIGINT');
  expect(await interrupted.ended).toBe(0);
  const late = startCommand(at, 'cycle', 'watch', '--until', 'backend', '--json');
  expect(await parsed(late)).toMatchObject({ cycle: { phase: 'complete' } });
  await run('cancel', '--reason', 'enough');
  expect((await parsed(late)).event).toMatchObject({ kind: 'cycle.cancelled' });
  expect(await parsed(late)).toMatchObject({ kind: 'error', code: 'PHASE_NOT_REACHED' });
  expect(await late.ended).toBe(1);
});
