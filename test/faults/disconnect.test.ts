import { expect, test } from 'vitest';
import { argumentsDigest } from '../../src/kernel/call.ts';
import { Random, rounds, SEED, TIMEOUT_MS } from '../../src/testing/faults/random.ts';
import { Scene } from '../../src/testing/faults/scene.ts';
import { openSocket, readAll, requestBytes } from '../../src/testing/faults/sockets.ts';

const BATCH_SIZE = 10;

test('when a client disconnects anywhere in a call, the call runs completely or not at all, and the connection is cleaned up', {
  timeout: TIMEOUT_MS,
}, async () => {
  const scene = await Scene.begin({ label: 'disconnect', agents: 6 });
  const { url } = scene.server();
  const token = await scene.token('ana');

  /** Sends a part of the request that ends at a random byte. Then closes the connection, either normally or with a reset. */
  const hangUp = async (random: Random, title: string) => {
    const args = { kind: 'decision', title };
    const bytes = requestBytes(url, token, '/api/mcp', { tool: 'covibe_note', arguments: args });
    const cut = random.chance(0.5) ? bytes.length : random.between(1, bytes.length - 1);
    const socket = await openSocket(url);
    await new Promise<void>((sent) => socket.write(bytes.subarray(0, cut), () => sent()));
    if (random.chance(0.5)) socket.destroy();
    else socket.resetAndDestroy();
    const effects = [`note:${title}`, `call:${argumentsDigest(args)}`];
    scene.log.add('ana', { tool: 'covibe_note', fate: cut < bytes.length ? 'refused' : 'unknown', code: undefined, effects });
  };

  /** Closes the sending side of the connection, but still waits for the answer. */
  const halfClose = async (title: string) => {
    const args = { kind: 'decision', title };
    const socket = await openSocket(url, { halfOpen: true });
    socket.end(requestBytes(url, token, '/api/mcp', { tool: 'covibe_note', arguments: args }));
    expect(await readAll(socket, (text) => text.endsWith('}'))).toContain('"status":"ok"');
    socket.destroy();
    scene.log.add('ana', { tool: 'covibe_note', fate: 'acknowledged', code: undefined, effects: [`note:${title}`, `call:${argumentsDigest(args)}`] });
  };

  await Promise.all(
    Array.from({ length: BATCH_SIZE }, async (_, one) => {
      const random = new Random(SEED, `hang up ${one}`);
      for (const call of rounds(8)) {
        const title = `gone-${one}-${call}`;
        await (random.chance(0.1) ? halfClose(title) : hangUp(random, title));
      }
    }),
  );
  await scene.log.more(20);
  await scene.nothingLeaked();
  await scene.judge();
});
