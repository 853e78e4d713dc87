import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestCaller } from '../../src/testing/app.ts';
import { testClock } from '../../src/testing/clock.ts';
import { SLEEPER } from '../../src/testing/config.ts';
import { brokerRepository, PSKS } from '../../src/testing/scenes/cycle.ts';
import { temporaryRepository } from '../../src/testing/scenes/repository.ts';
import { pretendedHost } from '../../src/testing/scenes/sessions.ts';
import type { Body } from '../../src/testing/scenes/workflow.ts';
import { child, type UpstreamApp, upstreamApp } from '../../src/testing/stand-ins/upstreams.ts';

const WORD = 'averylongwordwithoutaspace'.repeat(3);

/** Hostile text for fields with one line, and for fields with several lines. */
export const LINE = `<img src=x onerror=alert(1)> "><script>alert(2)</script> \u202Eevil\u2066 💣👩‍👩‍👧 ${WORD}`;
const LONG = `${LINE}\n\u001b[31m\u0007\u200B\t${'x'.repeat(4_000)}\n<style>*{display:none}</style>${' & so on'.repeat(200)}`;

/** The ids of objects, for use in addresses. */
export type Ids = Readonly<
  Record<'agent' | 'task' | 'claim' | 'warning' | 'workflow' | 'step' | 'instance' | 'cycle' | 'question' | 'approval' | 'ask' | 'token' | 'grant', string>
> & {
  readonly event: number;
};

/** Fills a store with an object of every kind, written by hostile agents of Ben. Ana is the operator. */
export async function seeded(): Promise<{ app: UpstreamApp; ids: Ids }> {
  const host = pretendedHost();
  const launchers = { tiny: { ...SLEEPER, args: ['86400', '{{prompt}}'], prompt: 'argument' as const } };
  const app = await upstreamApp([{ name: 'far', ...child('changes-description') }], { clock: testClock(Date.now()), agentHost: host, launchers });
  app.app.servesAt('http://127.0.0.1:9');
  const ana = await app.developer('ana');
  const codex = await app.developer('ben', 'codex');
  const ok = async (tool: string, args: object, caller: TestCaller = codex): Promise<Body> => {
    const { isError, body } = await app.tool(tool, args, caller);
    if (isError) throw new Error(`${tool} ${JSON.stringify(args).slice(0, 200)} answered ${JSON.stringify(body).slice(0, 1_000)}`);
    return body;
  };
  const team = await teamwork(app, ok, ana);
  const flow = await workflow(ok);
  const instance = await reviews(app, (name) => host.started.findLast((session) => session.name === name)?.env.COVIBE_MCP_TOKEN ?? '');
  const cycle = await handedOver(app, ok);
  const rest = await administration(app, codex);
  return { app, ids: { agent: `codex@${codex.principal.developerId}`, ...team, ...flow, instance, cycle, ...rest } };
}

type Ok = (tool: string, args: object, caller?: TestCaller) => Promise<Body>;

async function teamwork(app: UpstreamApp, ok: Ok, ana: TestCaller) {
  const session = (await ok('covibe_session', { operation: 'start', repo: LINE, branch: LINE, model: WORD, agent_name: LINE.slice(0, 99) })).data.session_id;
  const work = { title: LINE, task_type: 'feature', scope: LONG.slice(0, 900), description: LONG, target_files: [`src/${WORD}/<b>.ts`, 'src/a.ts'] };
  const checked = { ...work, session_id: session };
  await ok('covibe_task', { operation: 'check', ...checked });
  const { task_id: task } = (await ok('covibe_task', { operation: 'start', ...checked })).data;
  await ok('covibe_task', { operation: 'check', ...work }, ana);
  // The server blocks this start, because it is the same work.
  await app.tool('covibe_task', { operation: 'start', ...work }, ana);
  await ok('covibe_note', { kind: 'decision', title: LINE, body: LONG });
  await ok('covibe_note', { kind: 'blocker', title: LINE, body: LONG, task_id: task });
  const claim = { operation: 'claim', repo: LINE, paths: [`src/${WORD}/<i>/**`], symbols: [LINE], reason: LINE };
  const { claim_id } = (await ok('covibe_coordination', claim)).data;
  await app.tool('covibe_coordination', claim, ana);
  const { ask_id: ask } = (await ok('covibe_coordination', { operation: 'ask', to: 'ana', message: LONG.slice(0, 3_900) })).data;
  await ok('covibe_coordination', { operation: 'announce', message: LONG.slice(0, 1_900) });
  await ok('covibe_coordination', { operation: 'handoff', to: 'ana', message: LONG.slice(0, 3_900), branch: LINE });
  for (const model of [WORD, 'gpt-5-codex']) {
    const payload = { turn: model, model, usage: { input_tokens: 1_234_567, output_tokens: 8_901 } };
    await ok('covibe_ingest_agent_telemetry', { source: 'codex', payload, session_id: session });
  }
  const { items } = (await app.done('overlap.list', {})) as Body;
  return { task: String(task), claim: String(claim_id), ask: String(ask), warning: String(items[0].warning_id) };
}

async function workflow(ok: Ok) {
  const about = { source_type: 'prompt', source_content: LONG, repository_path: `/srv/${WORD}/<b>`, max_parallel_tasks: 5 };
  const { id } = await ok('workflow_create', { name: LINE, ...about });
  const plan = ['done', 'asks', 'failed', 'held', 'waits'].map((name, index) => ({
    name: `${name} ${LINE}`,
    description: LONG,
    sequence: index + 1,
    ...(name === 'waits' && { depends_on: [`failed ${LINE}`] }),
  }));
  await ok('workflow_set_plan', { id, plan: { summary: LONG.slice(0, 1_900), approach: LONG, tasks: plan } });
  const { tasks } = await ok('workflow_get', { id, include_tasks: true });
  const taskOf = (name: string): string => tasks.find((task: Body) => task.name.startsWith(name)).id;
  const agent = (await ok('agent_register', { name: LINE, runtime: 'codex' })).id;
  const to = (task: string, status: string, more: object = {}) => ok('task_update_status', { id: task, status, agent_id: agent, ...more });
  for (const name of ['done', 'asks', 'failed', 'held']) {
    const task_id = taskOf(name);
    await ok('task_claim', { task_id, agent_id: agent });
    await to(task_id, 'planning');
    await to(task_id, 'in_progress');
    await ok('checkpoint_add', {
      task_id,
      type: 'progress',
      summary: LONG.slice(0, 400),
      files_changed: [`src/${WORD}.ts`],
      detail: { [LINE]: LONG },
      agent_id: agent,
    });
  }
  await to(taskOf('done'), 'completed', { outcome: LONG });
  await to(taskOf('failed'), 'failed', { error: LONG });
  const asked = { sender_id: agent, recipient_id: 'human', message_type: 'query', subject: LINE, body: LONG, task_id: taskOf('asks') };
  const question = (await ok('message_send', asked)).id;
  return { workflow: String(id), step: taskOf('failed'), question: String(question) };
}

async function reviews(app: UpstreamApp, tokenOf: (name: string) => string): Promise<string> {
  await app.done('settings.set', { key: 'review.max_iterations', value: 1 });
  const repository = temporaryRepository();
  const { id } = (await app.done('instances.start', { repository_path: repository.path, type: 'coding', prompt: LINE, agent: 'tiny' })) as Body;
  const row = await app.app.store.reader.selectFrom('instances').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  mkdirSync(join(row.worktree_path, 'src'), { recursive: true });
  repository.commit(`src/${WORD} <b>.txt`, `${LONG}\n`, row.worktree_path);
  const by = async (name: string, tool: string, args: object): Promise<Body> => {
    const caller = await app.app.authenticate(tokenOf(name), 'bearer');
    if (!('principal' in caller)) throw new Error(`the token of ${name} is refused`);
    const { isError, body } = await app.app.dispatch.tool({ name: tool, args, principal: caller.principal, surface: 'api' });
    if (isError) throw new Error(`${tool}: ${JSON.stringify(body)}`);
    return body;
  };
  const { review_instance_id } = await by(id, 'request_review', { completion_message: LONG });
  await by(review_instance_id, 'send_feedback', { feedback: LONG, feedback_type: 'needs_work', priority: 'high', actionable_items: [LINE] });
  return String(id);
}

async function handedOver(app: UpstreamApp, ok: Ok): Promise<string> {
  const repository_path = brokerRepository();
  const at = (tool: string, args: object) => ok(tool, { repository_path, ...args });
  const { session_token } = (await at('session.open', { role: 'gemini', psk: PSKS.gemini })).data;
  const { cycle_id } = (await at('cycle.start', { feature: LINE })).data;
  const { lock_token } = (await at('lock.acquire', { session_token })).data;
  const lists = {
    files_modified: [`src/${WORD}.ts`],
    endpoints: [{ method: LINE.slice(0, 20), path: LINE }],
    data_shapes: [LONG],
    assumptions: [LINE],
    todos: [LINE],
    notes: [LONG],
  };
  const payload = { cycle_id, feature: LINE, producer: 'gemini', consumer: 'codex', ...lists };
  await at('handoff.write', { target: 'codex', session_token, lock_token, payload });
  const { items } = (await app.done('cycles.list', {})) as Body;
  return String(items[0].id);
}

async function administration(app: UpstreamApp, codex: TestCaller) {
  await app.event('upstream.seen', 'far');
  await app.call('far_change', { text: LONG });
  await app.until(async () => ((await app.done('servers.list', {})) as Body).items[0].withheld.length > 0, 'a withheld definition');
  const { grant_id } = await app.done('capabilities.grant', { action: 'tool.call.echo', token: codex.tokenId, scope: { approve: true } });
  // This call waits for approval during the whole test.
  void app.tool('echo', { text: LONG }, codex).catch(() => {});
  const approval = await app.until(async () => ((await app.done('approvals.list', {})) as Body).items[0]?.approval_id, 'a call that waits');
  const { token_id } = await app.done('tokens.create', { developer: 'ana', label: LINE.slice(0, 99) });
  return { grant: String(grant_id), approval: String(approval), token: String(token_id), event: (await app.events()).length };
}
