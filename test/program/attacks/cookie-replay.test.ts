import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { covenant, startProgram } from '../../../src/testing/programs/program.ts';
import { postSignIn, signInBy } from '../../../src/testing/scenes/signin.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';

/** Opens a socket. Returns `open`, or the reason if the server refuses it. */
async function socket(url: string, path: string, headers: Record<string, string>): Promise<string> {
  const ws = new WebSocket(url.replace('http', 'ws') + path, { headers });
  const outcome = await new Promise<string>((resolve) => ws.on('open', () => resolve('open')).on('error', ({ message }) => resolve(message)));
  ws.terminate();
  return outcome;
}

/**
 * A browser sends the cookie to all ports of the host. A development server on another port receives it and could send requests with it, without an Origin
 * header.
 */
test('a cookie that another port of the host received reads nothing, does nothing, opens no socket and gets no export [harden.session.cookie-alone] [dashboard.routes.cookie]', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  const { cookie, headers, proof, action, ticketed } = await signInBy(server.signinUrl);
  const replay = async (method: string, path: string, own: Record<string, string> = { cookie }) => {
    const body = method === 'POST' ? { body: '{}' } : {};
    return await fetch(server.url + path, { method, headers: { 'content-type': 'application/json', ...own }, ...body });
  };
  const tokens = async () => ((await covenant(at, 'tokens', 'list', '--json')).json as { total: number }).total;
  const before = await tokens();
  const without: Record<string, string>[] = [{ cookie }, { cookie, 'x-covenant-proof': proof.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) }];
  for (const own of without) {
    for (const name of [
      'identity.me',
      'tokens.create',
      'signin.link',
      'session.ticket',
      'session.end',
      'developers.sign_out',
      'events.list',
      'capabilities.grant',
    ])
      expect([name, (await replay('POST', `/api/actions/${name}`, own)).status]).toEqual([name, 401]);
    for (const route of ['GET /api/state', 'POST /api/tasks', 'POST /api/workstreams', 'POST /api/audit', 'GET /api/questions', 'GET /api/events/export']) {
      const [method, path] = route.split(' ') as [string, string];
      expect([route, (await replay(method, path, own)).status]).toEqual([route, 401]);
    }
    for (const path of ['/api/events', '/api/events?ticket=', `/api/events?ticket=${'A'.repeat(43)}`, '/api/instances/work-1-a1/terminal?write=1'])
      expect([path, await socket(server.url, path, own)]).toEqual([path, expect.stringContaining('401')]);
  }
  expect(await tokens()).toBe(before);

  // If an attacker finds a ticket, for example in the log of a proxy, it was already used.
  const seen = await ticketed('/api/events');
  expect(await socket(server.url, seen, { cookie })).toBe('open');
  expect(await socket(server.url, seen, { cookie })).toContain('401');
  expect((await replay('GET', await ticketed('/api/events/export'))).status).toBe(200);

  // The page that has the proof still works.
  expect((await action('identity.me')).status).toBe(200);
  expect((await replay('GET', '/api/state', headers)).status).toBe(200);
});

test('fetching a sign-in link, as a chat preview does, signs nobody in and leaves the link usable [harden.signin.get-signs-nobody-in] [auth.dashboard.one-time-link]', async () => {
  const server = await startProgram({ home: temporaryFolder() });
  for (const method of ['GET', 'HEAD', 'GET']) {
    const preview = await fetch(server.signinUrl, { method, redirect: 'manual' });
    expect([method, preview.status, preview.headers.get('set-cookie')]).toEqual([method, 200, null]);
    expect(preview.headers.get('content-security-policy')).toContain("script-src 'self'");
  }
  expect((await fetch(server.signinUrl, { method: 'POST', body: '{}' })).headers.get('set-cookie')).toBeNull();
  const { action } = await signInBy(server.signinUrl);
  expect((await action('identity.me')).status).toBe(200);
  expect((await postSignIn(server.signinUrl)).status).toBe(401);
});
