import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { BenchmarkReport } from '../benchmark.ts';
import { QUICK } from '../effort.ts';
import { startCovenant } from '../process.ts';
import { inTurns, quantiles } from '../turns.ts';
import { DESCRIPTION, layeredTasks } from './graph.ts';
import { withPeer } from './peers.ts';

const TASKS = QUICK ? 100 : 1_000;
const TURNS = QUICK ? 3 : 40;

/** An agent that asks for the next task over MCP, claims it and completes it. */
interface Worker {
  next(): Promise<string>;
  finish(task: string): Promise<void>;
  close(): Promise<void>;
}

interface Turn {
  readonly next: number;
  readonly whole: number;
}

/** Compares Covenant with task-master. It measures how long it takes to find the next task in a large graph, and how long to find, claim and complete it. */
export async function besideTaskMaster(report: BenchmarkReport): Promise<void> {
  const ours = await covenantWorker();
  try {
    const theirs = await withPeer('task-master-ai', async (folder) => {
      const worker = await taskMasterWorker(folder);
      await turn(worker);
      return worker;
    });
    await turn(ours);
    const both = 'value' in theirs ? [ours, theirs.value] : [ours];
    const [mine = [], other = []] = await inTurns(
      both.map((worker) => () => turn(worker)),
      TURNS,
    );
    if ('value' in theirs) await theirs.value.close();
    for (const [what, of] of [
      [`next task of ${TASKS.toLocaleString('en')}, over MCP`, ({ next }: Turn) => next],
      [`next task of ${TASKS.toLocaleString('en')}, claimed and completed, over MCP`, ({ whole }: Turn) => whole],
    ] as const) {
      const { p50, p99 } = quantiles(mine.map(of));
      const baseline = 'error' in theirs ? theirs : { name: theirs.name, value: quantiles(other.map(of)).p50, unit: 'ms' };
      report.figure({ name: what, value: p50, unit: 'ms', p50, p99, baseline });
    }
  } finally {
    await ours.close();
  }
}

async function turn(worker: Worker): Promise<Turn> {
  const begun = performance.now();
  const task = await worker.next();
  const next = performance.now() - begun;
  await worker.finish(task);
  return { next, whole: performance.now() - begun };
}

async function covenantWorker(): Promise<Worker> {
  const server = await startCovenant({}, undefined, ['toolset.workflow']);
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp/workflow`), { requestInit: { headers: { authorization: `Bearer ${server.token}` } } }),
  );
  const call = async <T>(name: string, args: Record<string, unknown>): Promise<T> => {
    const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
    if (isError || !structuredContent) throw new Error(`${name}: ${JSON.stringify(content).slice(0, 300)}`);
    return (structuredContent as { data?: T }).data ?? (structuredContent as T);
  };
  const { id: workflow_id } = await call<{ id: string }>('workflow_create', {
    name: 'Bench',
    source_type: 'prompt',
    source_content: 'Move every parser to the new grammar.',
    repository_path: '/srv/app',
  });
  const graph = layeredTasks(TASKS);
  const tasks = graph.map(({ name, layer, dependsOn }) => ({
    name,
    description: DESCRIPTION,
    sequence: layer,
    depends_on: dependsOn.map((at) => graph[at]?.name),
  }));
  await call('workflow_set_plan', { id: workflow_id, plan: { summary: 'Layers', approach: 'One after another', tasks } });
  const { id: agent_id } = await call<{ id: string }>('agent_register', { name: 'bench', runtime: 'custom' });
  return {
    async next() {
      const { tasks } = await call<{ tasks: { id: string }[] }>('workflow_next_tasks', { workflow_id, limit: 1 });
      return (tasks[0] as { id: string }).id;
    },
    async finish(id) {
      const { fence } = await call<{ fence: number }>('task_claim', { task_id: id, agent_id });
      for (const change of [{ status: 'planning' }, { status: 'in_progress' }, { status: 'completed', outcome: 'done' }])
        await call('task_update_status', { id, agent_id, fence, ...change });
    },
    async close() {
      await client.close();
      await server.stop();
    },
  };
}

/** Starts task-master with the tasks in its own file format, and uses only its everyday tools. It sends nothing to other hosts. */
async function taskMasterWorker(folder: string): Promise<Worker> {
  const project = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
  writeProject(project);
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const env = { PATH: process.env.PATH ?? '', HOME: project, TASK_MASTER_TOOLS: 'core', TASKMASTER_SKIP_AUTO_UPDATE: '1' };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [join(folder, 'dist/mcp-server.js')], cwd: project, env, stderr: 'ignore' }),
  );
  const call = async (name: string, args: Record<string, unknown>): Promise<string> => {
    const { isError, content } = (await client.callTool({ name, arguments: { projectRoot: project, ...args } })) as {
      isError?: boolean;
      content: readonly { text?: string }[];
    };
    const text = content[0]?.text ?? '';
    if (isError) throw new Error(`${name}: ${text.slice(0, 300)}`);
    return text;
  };
  return {
    async next() {
      const { data } = JSON.parse(await call('next_task', {})) as { data: { nextTask: { id: number } | null } };
      if (!data.nextTask) throw new Error('next_task returned no task');
      return String(data.nextTask.id);
    },
    async finish(id) {
      for (const status of ['in-progress', 'done']) await call('set_task_status', { id, status });
    },
    async close() {
      await client.close();
      rmSync(project, { recursive: true, force: true });
    },
  };
}

function writeProject(project: string): void {
  const own = join(project, '.taskmaster');
  mkdirSync(join(own, 'tasks'), { recursive: true });
  const tasks = layeredTasks(TASKS).map(({ name, dependsOn }, at) => ({
    id: at + 1,
    title: name,
    description: DESCRIPTION,
    details: '',
    testStrategy: '',
    priority: 'medium',
    status: 'pending',
    dependencies: dependsOn.map((index) => index + 1),
    subtasks: [],
  }));
  const created = new Date().toISOString();
  writeFileSync(join(own, 'tasks/tasks.json'), JSON.stringify({ master: { tasks, metadata: { created, updated: created, description: 'bench' } } }));
  writeFileSync(join(own, 'state.json'), JSON.stringify({ currentTag: 'master' }));
  writeFileSync(join(own, 'config.json'), JSON.stringify({ models: {}, global: { logLevel: 'error', anonymousTelemetry: false, projectName: 'bench' } }));
}
