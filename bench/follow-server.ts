/**
 * Starts the server that followers connect to, in its own process. It is either Covenant's journal, or a bare ws server that sends a prepared text to all
 * followers.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { DEFAULT_WORKSPACE_ID } from '../src/kernel/ids.ts';
import { createMetrics } from '../src/surfaces/http/metrics.ts';
import { serve } from '../src/surfaces/http/server.ts';
import { openApp, signUp } from './app.ts';
import { SAMPLE_EVENT } from './baselines/plain.ts';

export interface Ready {
  readonly url: string;
  readonly token: string;
}

/** The time at which the event was committed or the text was sent, in nanoseconds of the machine's clock. */
export interface SentEvent {
  readonly at: string;
}

interface Server extends Ready {
  send(): Promise<SentEvent>;
  stop(): Promise<void>;
}

const server = process.argv[2] === 'ours' ? await ours() : await bare();
process.on('message', async (message) => {
  if (message === 'send') process.send?.(await server.send());
  else {
    await server.stop();
    process.disconnect();
  }
});
process.send?.({ url: server.url, token: server.token } satisfies Ready);

async function ours(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
  const app = await openApp({ path: join(folder, 'covenant.db') });
  const { token } = await signUp(app);
  const seq = await app.store.append(DEFAULT_WORKSPACE_ID, [SAMPLE_EVENT]);
  const running = await serve({ app, metrics: createMetrics() });
  return {
    url: `${running.url.replace('http', 'ws')}/api/events?after=${seq}`,
    token,
    async send() {
      await app.store.append(DEFAULT_WORKSPACE_ID, [SAMPLE_EVENT]);
      return { at: String(process.hrtime.bigint()) };
    },
    async stop() {
      await running.close();
      await app.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function bare(): Promise<Server> {
  const sockets = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(sockets, 'listening');
  const { port } = sockets.address() as AddressInfo;
  const text = JSON.stringify({ seq: 1, ...SAMPLE_EVENT, session: null, time: Date.now(), hash: 'a'.repeat(64) });
  return {
    url: `ws://127.0.0.1:${port}`,
    token: 'none',
    async send() {
      const at = String(process.hrtime.bigint());
      for (const socket of sockets.clients) socket.send(text);
      return { at };
    },
    async stop() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    },
  };
}
