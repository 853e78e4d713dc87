import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolder } from '../../testing/database.ts';
import { connectClient } from './client.ts';
import { writeRunFile } from './home.ts';

test.each([
  ['UND_ERR_HEADERS_TIMEOUT', { code: 'SERVER_TIMEOUT', next: expect.stringContaining('covenant approvals list') }],
  ['ECONNRESET', { code: 'SERVER_UNREACHABLE', next: 'covenant status' }],
])('a server that does not answer (%s) is named as that, with what to do', async (code, expected) => {
  const home = temporaryFolder();
  writeRunFile(home, { url: 'http://127.0.0.1:1', instance: 'one', pid: process.pid });
  const lost = Object.assign(new TypeError('fetch failed'), { cause: { code } });
  vi.stubGlobal('fetch', async (url: string) => {
    if (url.endsWith('/api/health')) return Response.json({ instance: 'one' });
    throw lost;
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const client = await connectClient({ COVENANT_HOME: home }, undefined);
  await expect(client.tool('echo', {})).rejects.toMatchObject(expected);
});
