import { setInterval as every } from 'node:timers';
import type { Benchmark } from './benchmark.ts';
import { SECONDS } from './effort.ts';
import { residentMb, startCovenant, startScript } from './process.ts';
import { inTurns, middle, type Rate, rateOf } from './turns.ts';

/** What an agent feels of a flood by callers whom nobody knows, and what it costs in memory. */
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
  const most = { quiet: 0, flooded: 0 };
  let phase: keyof typeof most = 'quiet';
  const watching = every(() => (most[phase] = Math.max(most[phase], residentMb(ours.pid))), 50);
  try {
    // A server that works takes more memory than one that rests, up to a point: it is brought there first.
    await rateOf(call, 1, 6 * SECONDS);
    report.step('an agent, and 64 connections that flood');
    const underFlood = async (): Promise<Rate> => {
      phase = 'flooded';
      const attackers = await startScript(new URL('./flood-child.ts', import.meta.url), ours.url);
      try {
        return await rateOf(call, 1, SECONDS);
      } finally {
        await attackers.stop();
        phase = 'quiet';
      }
    };
    const [quiet, flooded] = (await inTurns([() => rateOf(call, 1, SECONDS), underFlood])).map((rates) => middle(rates, ({ p99 }) => p99)) as [Rate, Rate];
    const baseline = { name: 'nobody else calls', value: quiet.p99, unit: 'ms' };
    report.figure({ name: 'p99 of a call, 64 connections flood', value: flooded.p99, unit: 'ms', p50: flooded.p50, p99: flooded.p99, baseline });
    report.figure({ name: 'most resident memory', value: most.flooded, unit: 'MB', baseline: { name: 'nobody else calls', value: most.quiet, unit: 'MB' } });
  } finally {
    clearInterval(watching);
    await ours.stop();
  }
};
