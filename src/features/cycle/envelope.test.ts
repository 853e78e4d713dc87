import { expect, test } from 'vitest';
import { fileDisk } from '../../machine/files.ts';
import { brokerRepository, cycleApp, PSKS } from '../../testing/scenes/cycle.ts';
import type { Body } from '../../testing/scenes/workflow.ts';

test('every tool answers in the envelope, and every documented code is the answer to some call [cycle.envelope.success] [cycle.envelope.failure] [cycle.envelope.always] [cycle.error.codes] [cycle.error.internal] [cycle.error.invalid-tool] [cycle.surface.tools]', async () => {
  const disk = { broken: false };
  const readText: typeof fileDisk.readText = async (path) => {
    if (disk.broken) throw new Error('EIO: i/o error, read secret-sector');
    return await fileDisk.readText(path);
  };
  const app = await cycleApp({ files: { ...fileDisk, readText } });
  const { url } = await app.serve();
  /** Calls a tool over HTTP. Every call must get a normal response and no transport error. */
  const call = async (tool: string, args: object, token = app.ana.token): Promise<Body> => {
    const body = JSON.stringify({ tool, arguments: { repository_path: app.repository, ...args } });
    const response = await fetch(`${url}/api/mcp`, { method: 'POST', body, headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
    return await response.json();
  };
  const succeeded = new Set<string>();
  const good = async (tool: string, args: object = {}): Promise<Body> => {
    const body = await call(tool, args);
    expect(body).toEqual({ ok: true, data: expect.any(Object) });
    succeeded.add(tool);
    return body.data;
  };
  const codes = new Set<string>();
  const bad = async (code: string, tool: string, args: object = {}): Promise<Body> => {
    const body = await call(tool, args);
    expect(body).toEqual({
      ok: false,
      error: { code, message: expect.stringMatching(/./), details: expect.objectContaining({ next: expect.stringMatching(/./) }) },
    });
    codes.add(code);
    return body.error;
  };

  await bad('CONFIG_INVALID', 'session.open', { role: 'gemini', psk: 'x', repository_path: brokerRepository(null) });
  await bad('AUTH_FAILED', 'session.open', { role: 'gemini', psk: 'x' });
  await bad('INVALID_ROLE', 'session.open', { role: 'claude', psk: 'x' });
  const { session_token: gemini } = await good('session.open', { role: 'gemini', psk: PSKS.gemini });
  const { session_token: codex } = await good('session.open', { role: 'codex', psk: PSKS.codex });
  await bad('INVALID_SESSION', 'lock.acquire', { session_token: 'sess_x' });
  await bad('NO_ACTIVE_CYCLE', 'lock.acquire', { session_token: gemini });
  await bad('SCHEMA_INVALID', 'cycle.start', { feature: '!' });
  await good('cycle.start', { feature: 'x' });
  const active = await bad('CYCLE_ALREADY_ACTIVE', 'cycle.start', { feature: 'x' });
  expect(active.details.next).toMatch(/^Continue that cycle: .* `covenant cycle cancel --repo \S+ --reason TEXT`\.$/);
  await bad('INVALID_TARGET', 'handoff.read', { target: 'claude' });
  await bad('LOCK_DENIED', 'lock.acquire', { session_token: codex });
  // An unknown argument is a schema error, even if its value would be valid elsewhere. If a call has several faults, the reply reports the
  // one that the contract checks first.
  for (const [tool, more] of [
    ['handoff.read', { target: 'codex', session_token: codex }],
    ['lock.acquire', { session_token: gemini, role: 'codex' }],
    ['session.open', { role: 'gemini', psk: 'x', target: 'codex' }],
    ['cycle.status', { toString: 1 }],
  ] as const)
    expect((await bad('SCHEMA_INVALID', tool, more)).message).toContain('unknown field');
  const empty = await bad('INVALID_SESSION', 'handoff.write');
  expect(empty).toMatchObject({ message: expect.stringContaining('payload: expected a value'), details: { field: 'session_token' } });
  await bad('INVALID_TARGET', 'handoff.write', { session_token: gemini, lock_token: 'x', payload: {} });
  await bad('INVALID_SESSION', 'lock.acquire', { session_token: 'sess_\0' });

  const hold = async (session_token: string) => ({ session_token, lock_token: (await good('lock.acquire', { session_token })).lock_token });
  await bad('ARCHIVE_NOT_ALLOWED', 'cycle.archive', await hold(gemini));
  await bad('INVALID_PHASE', 'cycle.complete', await hold(gemini));
  for (const tool of ['cycle.destroy', 'session.close', 'lock.release', 'handoff.delete', 'cycle.']) {
    expect((await bad('INVALID_TOOL', tool)).message).toContain(tool);
  }
  disk.broken = true;
  for (const [tool, args] of [
    ['session.open', { role: 'gemini', psk: 'x' }],
    ['lock.acquire', { session_token: gemini }],
  ] as const) {
    const { message, details } = await bad('INTERNAL_ERROR', tool, args);
    // Internal errors are written to the log. The caller gets only a reference to the log entry.
    const reference = /req_\w+/.exec(message)?.[0];
    expect(JSON.stringify([message, details])).not.toContain('EIO');
    expect(app.logged.join('\n')).toContain(reference);
    expect(app.logged.join('\n')).toContain('secret-sector');
  }
  disk.broken = false;

  await good('handoff.write', { target: 'codex', payload: await app.payload('codex'), ...(await hold(gemini)) });
  await good('handoff.read', { target: 'codex' });
  await good('handoff.read', { target: 'gemini' });
  await good('handoff.write', { target: 'gemini', payload: await app.payload('gemini'), ...(await hold(codex)) });
  const held = await hold(gemini);
  await good('cycle.complete', held);
  await good('cycle.archive', held);
  await good('cycle.status');

  expect([...codes].sort()).toEqual(
    [
      'CONFIG_INVALID',
      'AUTH_FAILED',
      'INVALID_ROLE',
      'INVALID_SESSION',
      'INVALID_TARGET',
      'NO_ACTIVE_CYCLE',
      'CYCLE_ALREADY_ACTIVE',
      'INVALID_PHASE',
      'LOCK_DENIED',
      'ARCHIVE_NOT_ALLOWED',
      'SCHEMA_INVALID',
      'INVALID_TOOL',
      'INTERNAL_ERROR',
    ].sort(),
  );
  const tools = ['cycle.start', 'cycle.status', 'cycle.complete', 'cycle.archive', 'session.open', 'lock.acquire', 'handoff.read', 'handoff.write'];
  expect([...succeeded].sort()).toEqual(tools.sort());

  // A call that the access rules deny gets the same envelope.
  await app.done('capabilities.revoke', { action: 'toolset.cycle', token: app.ben.tokenId });
  for (const tool of tools)
    expect(await call(tool, {}, app.ben.token)).toMatchObject({ ok: false, error: { code: 'CAPABILITY_DENIED', details: { next: expect.any(String) } } });
});
