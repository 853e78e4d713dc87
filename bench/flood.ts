import { setInterval as every } from 'node:timers';
import { setTimeout as pause } from 'node:timers/promises';
import type { Benchmark } from './benchmark.ts';
import { SECONDS } from './effort.ts';
import { residentMb, startCovenant, startScript } from './process.ts';
import { inTurns, middle, quantiles } from './turns.ts';

/** The agent pauses between two calls, so that it is busy but does not flood the server itself. */
const BETWEEN_MS = 5;

/** Measures how a flood from unknown callers affects an agent's latency and the server's memory. */
export const flood: Benchmark = async (report) => {
  const ours = await startCovenant();
  const call = async () => {
    const answer = await fetch(`${ours.url}/api/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ours.token}`, 'content-type': 'application/json' },
      body: '{"tool":"clock","arguments":{}}',
    });
    if (!(await answer.text()).includes('epoch_ms')) throw new Error(`clock answered ${answer.status}`);
  };
  const agent = async () => {
    const times: number[] = [];
    for (const until = performance.now() + 2_000 * SECONDS; performance.now() < until; await pause(BETWEEN_MS)) {
      const begun = performance.now();
      await call();
      times.push(performance.now() - begun);
    }
    return quantiles(times);
  };
  const most = { quiet: 0, flooded: 0 };
  let phase: keyof typeof most = 'quiet';
  const watching = every(() => (most[phase] = Math.max(most[phase], residentMb(ours.pid))), 50);
  const underFlood = async () => {
    phase = 'flooded';
    const attackers = await startScript(new URL('./flood-child.ts', import.meta.url), ours.url);
    try {
      return await agent();
    } finally {
      await attackers.stop();
      phase = 'quiet';
    }
  };
  try {
    await agent();
    report.step('an agent during a flood by 64 connections');
    const [quiet, flooded] = (await inTurns([agent, underFlood])).map((rounds) => middle(rounds, ({ p99 }) => p99));
    if (!quiet || !flooded) throw new Error('nothing was measured');
    const baseline = { name: 'no other callers', value: quiet.p99, unit: 'ms' };
    report.figure({ name: 'p99 of a call during a flood by 64 connections', value: flooded.p99, unit: 'ms', ...flooded, baseline });
    report.figure({ name: 'peak resident memory', value: most.flooded, unit: 'MB', baseline: { name: 'no other callers', value: most.quiet, unit: 'MB' } });
  } finally {
    clearInterval(watching);
    await ours.stop();
  }
};
