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

/** From the commit of an event, or the sending of a text, until each of so many followers has it. One event at a time, ours and the bare server's in turns. */
export async function followed(followers: number): Promise<{ ours: Delays; bare: Delays }> {
  const [ours, bare] = [await started('ours', followers), await started('bare', followers)];
  try {
    await inTurns([ours.tell, bare.tell], 5);
    const [mine = [], theirs = []] = await inTurns([ours.tell, bare.tell], EVENTS);
    return { ours: quantiles(mine.flat()), bare: quantiles(theirs.flat()) };
  } finally {
    await Promise.all([ours.stop(), bare.stop()]);
  }
}

interface Followed {
  /** One event; how long it took to each follower, in milliseconds. */
  tell(): Promise<number[]>;
  stop(): Promise<void>;
}

async function started(kind: 'ours' | 'bare', count: number): Promise<Followed> {
  const server = fork(new URL('follow-server.ts', import.meta.url), [kind], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const heard = listening(server);
  const { url, token } = await heard<Ready>();
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
    async tell() {
      received.length = 0;
      const all = new Promise<void>((resolve) => (complete = resolve));
      const told = heard<SentEvent>();
      server.send('tell');
      const [{ at }] = await Promise.all([told, all]);
      // The clock is the machine's, the same in every process.
      return received.map((time) => Number(time - BigInt(at)) / 1e6);
    },
    async stop() {
      for (const socket of sockets) socket.terminate();
      server.send('stop');
      await once(server, 'exit');
    },
  };
}

/** What the server says next, one thing at a time. */
function listening(server: ChildProcess): <T>() => Promise<T> {
  let settle: { resolve(message: unknown): void; reject(error: Error): void } | undefined;
  server.on('message', (message) => settle?.resolve(message));
  server.on('exit', (code) => settle?.reject(new Error(`the server that is followed ended with ${code}`)));
  return <T>() => new Promise<T>((resolve, reject) => (settle = { resolve: resolve as (message: unknown) => void, reject }));
}
