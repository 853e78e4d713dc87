import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Benchmark, BenchmarkReport } from './benchmark.ts';
import { post } from './calls.ts';
import { SECONDS, STARTS } from './effort.ts';
import { type StartedCovenant, startBaseline, startCovenant, wholeProcess } from './process.ts';
import { inTurns, quantile, type Rate, rateOf, ratesInTurns } from './turns.ts';

const CLAIMS = 200;
const program = (path: string): string => new URL(`../${path}`, import.meta.url).pathname;

/** Measures delays that an agent experiences: the start of its bridge, and the hook before each edit. */
export const bridge: Benchmark = async (report) => {
  const home = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
  const repository = join(home, 'app');
  execFileSync('git', ['init', '--quiet', '--', repository]);
  const ours = await startCovenant();
  const env = { PATH: process.env.PATH, HOME: home, COVIBE_BASE_URL: ours.url, COVIBE_MCP_TOKEN: ours.token };
  try {
    report.step('bridge starts');
    await starts(report, env, repository);
    await hooks(report, ours, env, repository);
  } finally {
    await ours.stop();
    rmSync(home, { recursive: true, force: true });
  }
};

async function starts(report: BenchmarkReport, env: NodeJS.ProcessEnv, cwd: string): Promise<void> {
  const bare = () => firstAnswers([program('bench/baselines/stdio-echo.ts')], env, cwd);
  const ours = () => firstAnswers([program('dist/bin/covibe-mcp.js')], env, cwd);
  const [plain, bridged] = await middles([bare, ours]);
  for (const [index, answer] of ['initialize', 'tools/list'].entries()) {
    report.figure({
      name: `\`covibe-mcp\`, start to the ${answer} answer`,
      value: bridged?.[index] ?? 0,
      unit: 'ms',
      baseline: { name: 'bare SDK server over stdio', value: plain?.[index] ?? 0, unit: 'ms' },
      ...(answer === 'tools/list' && { note: 'the server’s list' }),
    });
  }
}

/** Milliseconds from the start of a process to its answers to `initialize` and `tools/list`. */
async function firstAnswers(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<number[]> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { env, cwd, stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const times: number[] = [];
  const ask = async (id: number, method: string, params: unknown, expected: string) => {
    send(child, { id, method, params });
    const { value } = (await lines.next()) as { value?: string };
    times.push(performance.now() - started);
    if (!value?.includes(expected)) throw new Error(`${method} was answered with ${value?.slice(0, 300)}`);
  };
  await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } }, 'serverInfo');
  send(child, { method: 'notifications/initialized' });
  await ask(2, 'tools/list', {}, 'inputSchema');
  child.stdin.end();
  await once(child, 'exit');
  return times;
}

function send({ stdin }: ChildProcessByStdio<Writable, Readable, null>, message: object): void {
  stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

async function hooks(report: BenchmarkReport, ours: StartedCovenant, env: NodeJS.ProcessEnv, repository: string): Promise<void> {
  const payload = JSON.stringify({
    session_id: 'bench',
    transcript_path: join(repository, 'transcript.jsonl'),
    cwd: repository,
    hook_event_name: 'PreToolUse',
    tool_name: 'Edit',
    tool_use_id: 'toolu_bench',
    tool_input: { file_path: join(repository, 'src/mine.ts'), old_string: 'a', new_string: 'b' },
  });
  const hono = await startBaseline('hono-echo');
  const bare = post(`${hono.url}/api/mcp`, {}, JSON.stringify({ arguments: { text: payload } }), expectJson);
  const hook = post(`${ours.url}/api/hooks/claude-code/before-tool`, { authorization: `Bearer ${ours.token}` }, payload, expectJson);
  const command = () => wholeProcess([program('dist/bin/covibe-local.js'), 'hook', 'claude-code', 'before-tool'], env, payload);
  for (const claims of [0, CLAIMS]) {
    if (claims > 0) await makeClaims(ours, 'app', claims);
    report.step(`hooks, ${claims} claims`);
    for (let warm = 0; warm < 100; warm++) await hook();
    const [plain, rate] = (await ratesInTurns([() => rateOf(bare, 1, SECONDS), () => rateOf(hook, 1, SECONDS)])) as [Rate, Rate];
    report.rate(`HTTP hook before an edit, ${claims} claims`, rate, { name: 'bare Hono', rate: plain });
    const [node, whole] = await middles([async () => [await wholeProcess(['-e', '0'], env)], async () => [await command()]]);
    const baseline = { name: '`node -e 0`', value: node?.[0] ?? 0, unit: 'ms' };
    report.figure({ name: `\`covibe-local hook\`, whole process, ${claims} claims`, value: whole?.[0] ?? 0, unit: 'ms', baseline });
  }
  await hono.stop();
}

/** Makes claims for a second developer, on files of the same repository that the hook does not ask about. */
async function makeClaims({ url, home }: StartedCovenant, repo: string, count: number): Promise<void> {
  const create = [program('dist/bin/covenant.js'), 'tokens', 'create', '--developer', 'other', '--json'];
  const { token } = JSON.parse(execFileSync(process.execPath, create, { env: { ...process.env, COVENANT_HOME: home }, encoding: 'utf8' })) as { token: string };
  for (let made = 0; made < count; made++) {
    const args = { operation: 'claim', repo, paths: [`src/theirs-${made}/**`] };
    await post(`${url}/api/mcp`, { authorization: `Bearer ${token}` }, JSON.stringify({ tool: 'covibe_coordination', arguments: args }), (answer) => {
      if (!answer.includes('claim_id')) throw new Error(`no claim: ${answer.slice(0, 300)}`);
    })();
  }
}

function expectJson(answer: string): void {
  const value = JSON.parse(answer) as Record<string, unknown>;
  if ('status' in value && value.status === 'error') throw new Error(answer.slice(0, 300));
}

/** Returns the median times of each call. The first run of each call does not count, because it fills the disk cache. */
async function middles(calls: readonly (() => Promise<number[]>)[]): Promise<number[][]> {
  const all = await inTurns(calls, STARTS + 1);
  return all.map(([first = [], ...rounds]) =>
    first.map((_, part) =>
      quantile(
        rounds.map((times) => times[part] ?? 0),
        0.5,
      ),
    ),
  );
}
