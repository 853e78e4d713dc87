import { expect, test } from 'vitest';
import type { Contract } from '../../../kernel/contract.ts';
import type { PublishedTool } from '../../../kernel/publish.ts';
import { type TeamApp, teamApp } from '../../../testing/scenes/team.ts';

/** The ids of items that belong to Ben, one of every kind. The keys are the names of the fields that take such ids. */
async function belongings(app: TeamApp): Promise<Record<string, string>> {
  const { ben } = app;
  const session_id = await app.session(ben);
  const task_id = await app.started({ title: 'Rotate the signing keys of the release', task_type: 'chore' }, ben);
  const planned_task_id = await app.planned({ title: 'Paint the bicycle shed green', task_type: 'chore' }, ben);
  await app.workstream('check', { title: 'Accessibility of the shop' }, ben);
  const { workstream_id } = (await app.workstream('start', { title: 'Accessibility of the shop' }, ben)).data;
  const planned_workstream_id = (await app.workstream('plan', { title: 'Offline mode of the mobile client' }, ben)).data.workstream_id;
  const other = await app.planned({ title: 'Rotate signing keys for releases', task_type: 'chore' }, await app.developer('cem'));
  const { warning_id, check_id } = (await app.task('check', { title: 'Rotate release signing keys', task_type: 'chore' }, ben)).data;
  const { context_id } = (await app.call('covibe_session', 'publish_context', { title: 'Keys', summary: 's', repo: 'acme/app', branch: 'main' }, ben)).data;
  const { claim_id } = (await app.call('covibe_coordination', 'claim', { repo: 'acme/app', paths: ['src/keys.ts'] }, ben)).data;
  const { ask_id } = (await app.call('covibe_coordination', 'ask', { to: 'ben', message: 'Why?' }, await app.developer('cem'))).data;
  const { handoff_id } = (await app.call('covibe_coordination', 'handoff', { to: 'ben', message: 'Yours' }, await app.developer('cem'))).data;
  expect(other).toMatch(/^task_/);
  return { session_id, task_id, planned_task_id, workstream_id, planned_workstream_id, warning_id, check_id, context_id, claim_id, ask_id, handoff_id };
}

const SAMPLES: Record<string, unknown> = {
  title: 'Rotate release signing keys',
  task_type: 'chore',
  summary: 's',
  repo: 'acme/app',
  to: 'ben',
  message: 'm',
  text: 't',
  reason: 'r',
  status: 'blocked',
  result_summary: 'r',
  kind: 'decision',
  source: 'codex',
  payload: { model: 'gpt-5', usage: { input_tokens: 1, output_tokens: 1 } },
};

const demanded = ({ input: { shape } }: Contract) => Object.keys(shape).filter((field) => !shape[field]?.safeParse(undefined).success);

test('every call that changes data refuses an id of another developer, and changes nothing [auth.owner.every-mutation]', async () => {
  const app = await teamApp();
  const theirs = await belongings(app);
  const calls = app.app.registry
    .tools()
    .filter(({ toolset }) => toolset === 'team')
    .flatMap((tool) => [...tool.operations].map(([operation, { contract }]) => ({ tool: tool.name, operation, contract })))
    .filter(({ contract }) => !contract.annotations.readOnlyHint)
    .flatMap(({ tool, operation, contract }) => {
      const { shape } = contract.input;
      const needed = demanded(contract);
      const args = Object.fromEntries(needed.map((field) => [field, theirs[field] ?? SAMPLES[field]]));
      // Verdicts and confirmations are part of a start, which has its own tests.
      const ids = Object.keys(shape).filter((field) => field.endsWith('_id') && field !== 'check_id' && !(field === 'warning_id' && !needed.includes(field)));
      return ids.map((field) => ({ tool, operation, field, args: { ...args, [field]: theirs[field] } }));
    });
  expect(calls.length).toBeGreaterThan(40);
  const everything = async () => {
    const tables = [
      'tasks',
      'workstreams',
      'agent_sessions',
      'session_contexts',
      'claims',
      'asks',
      'handoffs',
      'overlap_warnings',
      'notes',
      'agent_spans',
    ] as const;
    return JSON.stringify(await Promise.all(tables.map((table) => app.app.store.reader.selectFrom(table).selectAll().execute())));
  };
  const before = await everything();
  const work = (await app.events({ category: 'work' })).length;
  for (const { tool, operation, field, args } of calls) {
    if (theirs[field] === undefined) throw new Error(`${tool} ${operation} takes ${field}: give Ben one above`);
    const answer = await app.call(tool, operation, args);
    expect([tool, operation, field, answer.status, answer.data.code]).toEqual([tool, operation, field, 'error', expect.stringMatching(/_NOT_FOUND$/)]);
  }
  expect(await everything()).toBe(before);
  expect((await app.events({ category: 'work' })).length).toBe(work);
});

test('nothing that others can read names a private developer [auth.private.redacted]', async () => {
  const app = await teamApp();
  await app.call('covibe_note', null, { kind: 'blocker', title: 'No keys yet' }, app.ben);
  const made = async (tool: string, args: object) => String((await app.tool(tool, args, app.ben)).body.id);
  const agent_id = await made('agent_register', { name: "ben's builder", runtime: 'codex' });
  const workflow_id = await made('workflow_create', { name: 'Keys', source_type: 'prompt', source_content: 'All of them', repository_path: '/srv/app' });
  const plan = { summary: 's', approach: 'a', tasks: [{ name: 'One', description: '', sequence: 1 }] };
  await app.tool('workflow_set_plan', { id: workflow_id, plan }, app.ben);
  const [step] = await app.app.store.reader.selectFrom('workflow_tasks').select('id').execute();
  expect((await app.tool('task_claim', { task_id: step?.id, agent_id }, app.ben)).isError).toBe(false);
  const theirs: Record<string, string> = { ...(await belongings(app)), agent_id, workflow_id };
  await app.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  const { registry, dispatch } = app.app;
  const reads = (published: readonly PublishedTool[], noun: 'tool' | 'action') =>
    published
      .flatMap(({ name, operations }) => [...operations].map(([operation, { contract }]) => ({ noun, name, operation, contract })))
      .filter(({ contract }) => contract.annotations.readOnlyHint && contract.access !== 'server' && contract.access !== 'token');
  const principal = { ...app.ana.principal, web: true, operator: true };
  let answered = 0;
  for (const { noun, name, operation, contract } of [...reads(registry.tools(), 'tool'), ...reads(registry.actions(), 'action')]) {
    const needed = Object.fromEntries(demanded(contract).map((field) => [field, theirs[field] ?? SAMPLES[field]]));
    const args = operation === null ? needed : { operation, ...needed };
    const { body, isError } = await dispatch[noun]({ name, args, principal: noun === 'tool' ? app.ana.principal : principal, surface: 'dashboard' });
    if (!isError) answered++;
    const text = JSON.stringify(body);
    expect([name, operation, /\bben\b/.exec(text)?.input, text.includes(app.ben.principal.developerId as string)]).toEqual([name, operation, undefined, false]);
  }
  expect(answered).toBeGreaterThan(40);
});
