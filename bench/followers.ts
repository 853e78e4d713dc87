import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { QUICK } from './effort.ts';
import type { Ready, SentEvent } from './follow-server.ts';
import { inTurns, quantiles } from './turns.ts';

const EVENTS = QUICK ? 5 : 200;

interface Delays {
  readonly p50: number;
  readonly p99: number;
}

/**
 * Measures the delay until each follower has received an event. For our server, the delay starts with the commit. For the bare server, it starts when the text
 * is sent. The two servers take turns, one event at a time.
 */
export async function followed(followers: number): Promise<{ ours: Delays; bare: Delays }> {
  const [ours, bare] = [await started('ours', followers), await started('bare', followers)];
  try {
    await inTurns([ours.send, bare.send], 5);
    const [mine = [], theirs = []] = await inTurns([ours.send, bare.send], EVENTS);
    return { ours: quantiles(mine.flat()), bare: quantiles(theirs.flat()) };
  } finally {
    await Promise.all([ours.stop(), bare.stop()]);
  }
}

interface Followed {
  /** Sends one event and returns the delay to each follower in milliseconds. */
  send(): Promise<number[]>;
  stop(): Promise<void>;
}

async function started(kind: 'ours' | 'bare', count: number): Promise<Followed> {
  const server = fork(new URL('follow-server.ts', import.meta.url), [kind], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const nextMessage = listening(server);
  const { url, token } = await nextMessage<Ready>();
  const received: bigint[] = [];
  let complete: () => void = () => {};
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
      socket.on('message', () => {
        if (received.push(process.hrtime.bigint()) === count) complete();
      });
      await once(socket, 'open');
      return socket;
    }),
  );
  return {
    async send() {
      received.length = 0;
      const all = new Promise<void>((resolve) => (complete = resolve));
      const sent = nextMessage<SentEvent>();
      server.send('send');
      const [{ at }] = await Promise.all([sent, all]);
      // The two times can be subtracted, because all processes of the machine share this clock.
      return received.map((time) => Number(time - BigInt(at)) / 1e6);
    },
    async stop() {
      for (const socket of sockets) socket.terminate();
      server.send('stop');
      await once(server, 'exit');
    },
  };
}

/** Returns the server's next message. Only one caller can wait at a time. */
function listening(server: ChildProcess): <T>() => Promise<T> {
  let settle: { resolve(message: unknown): void; reject(error: Error): void } | undefined;
  server.on('message', (message) => settle?.resolve(message));
  server.on('exit', (code) => settle?.reject(new Error(`the server that is followed ended with ${code}`)));
  return <T>() => new Promise<T>((resolve, reject) => (settle = { resolve: resolve as (message: unknown) => void, reject }));
}
