import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { covenant, startProgram } from '../../../src/testing/programs/program.ts';
import { whenOver } from '../../../src/testing/scope.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';

test('a token that sends a flood of calls is limited by rate, sockets and quota, and refused calls do not make the journal grow', async () => {
  const at = { home: temporaryFolder() };
  writeFileSync(
    join(at.home, 'config.toml'),
    '[limits]\ntoken_requests_per_second = 20\ntoken_burst = 40\njournal_events_per_day = 50\nsockets_per_token = 4\n',
  );
  const server = await startProgram(at);
  const { token, token_id } = (await covenant(at, 'tokens', 'create', '--developer', 'ana', '--agent', 'codex', '--json')).json;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ tool: 'clock', arguments: {} });
  const call = async () => {
    const answer = await fetch(`${server.url}/api/mcp`, { method: 'POST', headers, body });
    return { status: answer.status, after: answer.headers.get('retry-after'), text: await answer.text() };
  };
  const answers = await Promise.all(Array.from({ length: 300 }, call));
  const limited = answers.filter(({ status }) => status === 429);
  expect(limited.length).toBeGreaterThan(150);
  expect(limited.every(({ after }) => Number(after) >= 1)).toBe(true);

  await new Promise((resolve) => setTimeout(resolve, 1_000));
  // Only a call after the flood surely meets the quota. All calls of one burst may pass it before the first of them is recorded.
  expect((await call()).text).toContain('JOURNAL_QUOTA_EXCEEDED');
  const opened = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/events`, { headers });
      whenOver(() => socket.terminate());
      socket.on('error', () => {});
      return await Promise.race([once(socket, 'open').then(() => true), once(socket, 'unexpected-response').then(() => false)]);
    }),
  );
  expect(opened.filter(Boolean)).toHaveLength(4);

  await server.stop();
  const { items } = (await covenant(at, 'audit', 'recent', '--limit', '500', '--json')).json as {
    items: { kind: string; payload: Record<string, unknown> }[];
  };
  const own = items.filter(({ payload }) => payload.token_id === token_id);
  // The quota is used up after 25 calls. At that moment, the number of calls in progress is limited by the burst limit.
  expect(own.filter(({ kind }) => kind === 'clock').length).toBeLessThanOrEqual(45);
  expect(own.filter(({ kind }) => kind === 'requests_refused').length).toBeGreaterThan(0);
});
