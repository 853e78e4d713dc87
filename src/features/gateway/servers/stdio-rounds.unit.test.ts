import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { createBoundedLog } from '../../../machine/process/bounded-log.ts';
import { createChildren } from '../../../machine/process/children.ts';
import { childProgram, openDescriptors, processesWith } from '../../../testing/programs/processes.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { StdioTransport } from './stdio-transport.ts';

/** The test runs more rounds under `npm run prove`. */
const PROVE = process.env.COVENANT_PROVE === '1';
const ROUNDS = PROVE ? 1_000 : 50;
const AT_ONCE = 6;
const GRACE_MS = 30;

test(`${ROUNDS} rounds of start, stop and crash leave no process and no descriptor behind`, { timeout: PROVE ? 1_200_000 : 60_000 }, async () => {
  const children = createChildren();
  const log = createBoundedLog({ path: join(temporaryFolder(), 'rounds.log') });
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);

  const run = (file: string, ...args: string[]) => ({ file, args, env: { PATH: process.env.PATH }, cwd: tmpdir() });
  const sh = (script: string) => children.start(run('sh', '-c', script));
  const connect = async (program: string) => {
    const transport = new StdioTransport({ children, log, spawn: run(process.execPath, childProgram(program)) });
    const client = new Client({ name: 'rounds', version: '1' });
    await client.connect(transport);
    return { transport, client };
  };
  const kinds: Record<string, () => Promise<unknown>> = {
    async obedient() {
      const child = await children.start(run('cat'));
      await child.stop();
    },
    async stubborn() {
      const child = await sh(`trap '' TERM; echo ready; while :; do sleep 1; done`);
      await once(child.stdout, 'data');
      await child.stop(GRACE_MS);
    },
    async leavesSomethingBehind() {
      const child = await sh('sleep 1000 & exit 3');
      expect(await child.exited).toEqual({ code: 3, signal: null });
      await child.stop();
    },
    async leavesTheGroup() {
      const child = await sh('setsid sleep 1000 & echo ready; wait');
      await once(child.stdout, 'data');
      await child.stop(GRACE_MS);
    },
    async killedFromOutside() {
      const child = await sh('sleep 1000 & wait');
      process.kill(child.pid, 'SIGKILL');
      await child.exited;
      await child.stop();
    },
    async missing() {
      await expect(children.start(run('covenant-no-such-program'))).rejects.toThrow('was not found');
    },
    async called() {
      const { client } = await connect('plain');
      const { content } = await client.callTool({ name: 'echo', arguments: { text: 'x' } });
      expect(content).toEqual([{ type: 'text', text: 'x' }]);
      await client.close();
    },
    async diesInCall() {
      const { client, transport } = await connect('dies-in-call');
      await expect(client.callTool({ name: 'die', arguments: {} })).rejects.toThrow('Connection closed');
      await transport.close();
    },
  };
  const all = Object.values(kinds);
  const round = (number: number) => (all[number % all.length] as () => Promise<unknown>)();

  // These are open once they have been used, such as the reaper, so they must not count as left behind.
  await Promise.all(all.map((kind) => kind()));
  await log.flush();
  const reaper = children.reaperPid as number;
  expect(processesWith(children.mark)).toEqual([reaper]);
  const before = { descriptors: openDescriptors(), rss: process.memoryUsage().rss };
  const began = performance.now();

  let next = 0;
  const worker = async () => {
    for (let number = next++; number < ROUNDS; number = next++) await round(number);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));

  await log.flush();
  expect(processesWith(children.mark)).toEqual([reaper]);
  await expect.poll(openDescriptors).toBeLessThanOrEqual(before.descriptors);
  expect(warnings).toEqual([]);
  if (PROVE) {
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const grown = ((process.memoryUsage().rss - before.rss) / 1024 / 1024).toFixed(1);
    process.stdout.write(
      `${ROUNDS} rounds in ${seconds} s: 0 processes left, ${before.descriptors} descriptors before and after, memory grew by ${grown} MiB\n`,
    );
  }
  await children.stopAll();
  expect(processesWith(children.mark)).toEqual([]);
  process.off('warning', onWarning);
});
