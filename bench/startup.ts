import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Benchmark } from './benchmark.ts';
import { QUICK, STARTS } from './effort.ts';
import { covenant, residentMb, type StartedProgram, startBaseline, startCovenant, wholeProcess } from './process.ts';
import { inTurns, mediansInTurns, middle } from './turns.ts';

const ROUNDS = QUICK ? 1 : 5;
/** The memory is measured after this pause, because the server still does background work after it is ready. */
const SETTLES_MS = 2_000;

/** Measures the start time of the server and its memory at rest. */
export const startup: Benchmark = async (report) => {
  const home = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
  // Not measured: the first start creates the database.
  await (await startCovenant({}, home)).stop();
  report.step('covenant up');
  const [ours, bare] = (await inTurns([() => look(() => startCovenant({}, home)), () => look(() => startBaseline('sdk-echo'))], ROUNDS)) as [Seen[], Seen[]];
  rmSync(home, { recursive: true, force: true });
  const ready = (seen: readonly Seen[]) => Math.round(middle(seen, ({ readyMs }) => readyMs).readyMs);
  const resident = (seen: readonly Seen[]) => middle(seen, ({ mb }) => mb).mb;
  report.figure({ name: '`covenant up` to ready', value: ready(ours), unit: 'ms', baseline: { name: 'bare MCP SDK server', value: ready(bare), unit: 'ms' } });
  report.figure({
    name: 'resident memory at rest',
    value: resident(ours),
    unit: 'MB',
    baseline: { name: 'bare MCP SDK server', value: resident(bare), unit: 'MB' },
  });
  report.step('covenant --version');
  const [version = 0, node = 0] = await mediansInTurns([() => wholeProcess([covenant, '--version']), () => wholeProcess(['-e', '0'])], STARTS);
  report.figure({ name: '`covenant --version`, whole process', value: version, unit: 'ms', baseline: { name: '`node -e 0`', value: node, unit: 'ms' } });
};

interface Seen {
  readonly readyMs: number;
  readonly mb: number;
}

async function look(start: () => Promise<StartedProgram>): Promise<Seen> {
  const server = await start();
  await pause(SETTLES_MS);
  const mb = residentMb(server.pid);
  await server.stop();
  return { readyMs: server.readyMs, mb };
}
