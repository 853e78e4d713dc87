import { expect, test, vi } from 'vitest';
import { isRecord } from '../../../kernel/registry.ts';
import type { TestCaller } from '../../../testing/app.ts';
import { MARK, type PrivateTeam, privateTeam, type Read } from '../../../testing/scenes/private-developer.ts';
import { teamApp } from '../../../testing/scenes/team.ts';
import { workflowApp } from '../../../testing/scenes/workflow.ts';
import { eventRedactor } from './redact.ts';

/** A text that a member read, and the object that it belongs to. */
interface Found {
  readonly value: string;
  readonly field: string;
  readonly object: string;
  readonly label: string;
}

/** Includes ids of instances. */
const ID = /[a-z]+_[0-9A-HJKMNP-TV-Z]{26}|\b(?:work|review)-\d+-a\d+\b/g;

/**
 * Ids of shared work that a member may see in an object of another kind, by id prefix and field. A team needs to see which
 * pieces of work belong together. None of these ids shows who does the work.
 */
const WORK: readonly { readonly ids: RegExp; readonly fields: RegExp; readonly reason: string }[] = [
  { ids: /^wst_/, fields: /^(workstream_id|subject_id)$/, reason: 'a task or note is part of a workstream, and a warning is about one' },
  { ids: /^task_/, fields: /^(task_id|subject_id|about|path)$/, reason: 'a note, a warning or a line of news is about a task' },
  {
    ids: /^tk_/,
    fields: /^(task_id|workflow_task_id|task_ids|depends_on)$/,
    reason: 'a checkpoint, a message or a worktree belongs to a step, and steps depend on each other',
  },
  { ids: /^ws_/, fields: /^(workspace_id|from)$/, reason: 'the next holder of a step continues in its worktree' },
  { ids: /^warn_/, fields: /^(path|warning_id)$/, reason: 'a warning is about the work that it was raised for, and a line of news is about a warning' },
  { ids: /^cp_/, fields: /^checkpoint_id$/, reason: 'a checkpoint belongs to a step' },
  { ids: /^(task|wst)_/, fields: /^required_action$/, reason: "the next step of a member's own check names the candidates that its answer lists" },
];

/** The object that a view belongs to: its first id field. For an event: its subject, or the event itself. */
function objectOf(record: Record<string, unknown>): string | undefined {
  if (typeof record.seq === 'number' && 'kind' in record) {
    const subject = typeof record.subject === 'string' && record.subject.match(ID)?.[0];
    return subject || `event ${record.seq}`;
  }
  return Object.entries(record).find(([field, value]) => typeof value === 'string' && (field === 'id' || field.endsWith('_id')))?.[1] as string | undefined;
}

function* textsIn({ label, body, sent }: Read): Generator<Found> {
  const echoed = echoedIn(body, sent);
  yield* walk(body, label, label);
  function* walk(value: unknown, field: string, object: string): Generator<Found> {
    if (Array.isArray(value))
      for (const [index, inner] of value.entries()) yield* walk(inner, field, object.startsWith(label) ? `${object}[${index}]` : object);
    else if (isRecord(value)) {
      // A payload belongs to its event's subject, whatever it names.
      const own = (field === 'payload' ? undefined : objectOf(value)) ?? object;
      for (const [key, inner] of Object.entries(value)) yield* walk(inner, key, own);
    } else if (typeof value === 'string') yield { value: isWords(field) && echoed ? value.replaceAll(echoed, '') : value, field, object, label };
  }
}

/** A refusal repeats the value of the field that it is about, and nothing else that its caller named. */
function echoedIn(body: unknown, sent: string): string | undefined {
  const field = /"field":"(\w+)"/.exec(JSON.stringify(body))?.[1];
  const value = field === undefined || sent === '' ? undefined : JSON.parse(sent)[field];
  return typeof value === 'string' ? value : undefined;
}

/** Texts of the server itself. Only the ids and names in them are checked, because two equal refusals reveal nothing. */
const isWords = (field: string): boolean => ['code', 'message', 'required_action', 'suggestion', 'next'].includes(field);

function linksIn(team: PrivateTeam, reads: readonly Read[]): string[] {
  const paulas = team.ids();
  const links = new Map<string, Set<string>>();
  const note = ({ label, field }: Found, what: string) => links.set(`${field}: ${what}`, (links.get(`${field}: ${what}`) ?? new Set()).add(label));
  const kind = (object: string) => object.replace(/_[0-9A-Z]{26}$/, '').replace(/\d+/g, 'n');
  const found = reads.flatMap((read) => [...textsIn(read)]);
  for (const text of found) {
    if (text.value.includes(MARK)) note(text, `a name that she gave, ${text.value.slice(0, 40)}, in ${kind(text.object)}`);
    for (const [id] of text.value.matchAll(ID)) {
      if (!paulas.has(id) || text.object === id) continue;
      if (!WORK.some(({ ids: of, fields }) => of.test(id) && fields.test(text.field))) note(text, `${paulas.get(id)} in ${kind(text.object)}`);
    }
  }
  // One lane per agent would show which actions belong to the same agent.
  for (const { label, body } of reads) if (hiddenLanes(body) > 1) links.set('lanes: her agents can be told apart', new Set([label]));
  for (const [value, objects] of recurring(team, found)) links.set(`${value} recurs`, objects);
  return [...links].map(([what, labels]) => `${what} (${[...labels].slice(0, 3).join(', ')})`).sort();
}

const hiddenLanes = (body: unknown): number =>
  isRecord(body) && Array.isArray(body.lanes) ? body.lanes.filter((lane) => JSON.stringify({ ...lane, spans: [] }).includes('@private')).length : 0;

/** Fields with texts of shared work, or with the progress of a broadcast. Warnings and parts of the work repeat such texts. */
const WORDS = ['title', 'workstream_title', 'subject', 'steps', 'state'];

/** Any other value that was read in two of her objects and in no object of anyone else, such as a digest, a program name or a request id. */
function recurring({ ids, scene, paulaId }: PrivateTeam, found: readonly Found[]): Map<string, Set<string>> {
  const paulas = ids();
  const events = scene.captured.rows('events').flatMap(({ seq, actor }) => (String(actor).endsWith(paulaId) ? [`event ${seq}`] : []));
  const hers = new Set([...paulas.keys(), ...events]);
  const vocabulary = new Set(found.filter(({ object }) => !hers.has(object)).map(({ value }) => value));
  const places = new Map<string, Set<string>>();
  for (const { value, object, field } of found) {
    if (!hers.has(object) || vocabulary.has(value) || paulas.has(value) || WORDS.includes(field) || isWords(field)) continue;
    places.set(value, (places.get(value) ?? new Set()).add(`${object} ${field}`));
  }
  return new Map([...places].filter(([, at]) => new Set([...at].map((place) => place.split(' ').slice(0, -1).join(' '))).size > 1));
}

test('nothing that a member reads links two objects of a private developer [harden.private.unlinkable]', { timeout: 240_000 }, async () => {
  const team = await privateTeam();
  const reads = await team.readAll('ana', 'ana_web');
  // Paula has an object of every kind, and all of them are read. Otherwise this test would prove nothing.
  const tables = [...Map.groupBy(team.ids(), ([, table]) => table).keys()];
  expect(tables).toEqual(
    expect.arrayContaining(['tokens', 'agent_sessions', 'grants', 'agents', 'device_grants', 'local_worktrees', 'session_contexts', 'claims']),
  );
  expect(tables).toEqual(
    expect.arrayContaining([
      'tasks',
      'workstreams',
      'asks',
      'handoffs',
      'notes',
      'messages',
      'checkpoints',
      'worktrees',
      'role_sessions',
      'approvals',
      'instances',
    ]),
  );
  const read = JSON.stringify(reads);
  for (const table of ['agent_sessions', 'agents', 'session_contexts', 'claims', 'tasks', 'worktrees'] as const)
    expect([table, [...team.ids()].some(([id, of]) => of === table && read.includes(id))]).toEqual([table, true]);
  expect(linksIn(team, reads)).toEqual([]);
  // A search does not find hidden values, either.
  const paulas = team.ids();
  const finds = await team.findAll('ana', 'ana_web');
  const called = ({ label, sent }: Read) => `${label} ${sent}`;
  expect(finds.map(called)).toEqual(expect.arrayContaining(['agent_list {"runtime":"gemini"}', 'lookup.find {"text":"qloq"}', 'events.list {"text":"qloq"}']));
  const found = finds.filter(({ body, otherwise }) => {
    const without = JSON.stringify(otherwise);
    return JSON.stringify(body)
      .match(ID)
      ?.some((id) => paulas.has(id) && !without.includes(id));
  });
  expect(found.map(called)).toEqual([]);
});

test('a refusal does not confirm which agent holds a step, whatever ids its caller sends [harden.private.unlinkable]', async () => {
  const t = await workflowApp();
  const paula = await t.developer('paula', 'gemini');
  const { workflow_id, ids } = await t.planned(['one', 'mine']);
  const task_id = ids.one as string;
  const { agent_id } = await t.started(task_id, paula);
  const own = await t.agent(t.ana);
  await t.done('developers.set_visibility', { developer: 'paula', visibility: 'private' });
  // A step's name is free text, too. If it contains a guessed id, the answer must not confirm that id.
  await t.ok('workflow_add_task', { workflow_id, name: agent_id, description: 'a guess' });
  const guesses: readonly [string, object][] = [
    ['task_update_status', { id: task_id, status: 'failed', error: agent_id }],
    ['task_update_status', { id: task_id, status: 'failed', error: agent_id, agent_id: own }],
    ['checkpoint_add', { task_id, type: 'progress', summary: agent_id }],
    ['workflow_add_task', { workflow_id, name: 'next', description: agent_id, blocks: [agent_id, 'one'] }],
    ['workflow_remove_task', { workflow_id, task_id, reason: agent_id }],
  ];
  for (const [tool, args] of guesses) {
    const { isError, body } = await t.tool(tool, args, t.ana);
    expect([tool, isError, JSON.stringify(body).includes(agent_id)]).toEqual([tool, true, false]);
    expect(JSON.stringify(body)).toMatch(/"assigned_agent_id":"@private"/);
  }
  // The refusal repeats the value of its field. A placeholder instead of the id would reveal that the agent belongs to a private developer.
  expect((await t.tool('agent_heartbeat', { agent_id }, t.ana)).reply.message).toContain(agent_id);
});

test("members cannot find out the runtime of a private developer's agent with the filters of lists and broadcasts [harden.private.unlinkable]", async () => {
  const t = await workflowApp();
  const paula = await t.developer('paula', 'gemini');
  const hidden = await t.agent(paula, { runtime: 'gemini' });
  const open = await t.agent(t.ben, { runtime: 'gemini' });
  const sender_id = await t.agent(t.ana);
  await t.done('developers.set_visibility', { developer: 'paula', visibility: 'private' });
  const listed = async (runtime: string, caller: TestCaller) => {
    const { agents, total } = await t.ok('agent_list', { runtime }, caller);
    expect(total).toBe(agents.length);
    return agents.map(({ id }: { id: string }) => id);
  };
  const reached = async (runtime: string) =>
    (await t.ok('message_broadcast', { sender_id, recipient_filter: { runtime }, message_type: 'notification', body: 'hi' }, t.ana)).sent_count;
  expect([await listed('gemini', t.ana), await listed('custom', t.ana)]).toEqual([[open], [hidden]]);
  expect([await reached('gemini'), await reached('custom')]).toEqual([1, 1]);
  // Paula herself can filter by her own values.
  expect(await listed('gemini', paula)).toEqual([open, hidden]);
});

test("a private developer's usage events and check events contain no grant, call or program [harden.private.events]", async () => {
  const t = await teamApp();
  const paula = await t.developer('paula', 'gemini');
  await t.done('capabilities.grant', { action: 'tool.call.echo', token: paula.tokenId });
  await t.done('developers.set_visibility', { developer: 'paula', visibility: 'private' });
  for (const text of ['one', 'one']) await t.tool('echo', { text }, paula);
  await t.tool('echo', { text: 'one' }, t.ben);
  const seenBy = async ({ principal }: TestCaller) => {
    const redact = await eventRedactor(t.app.store.reader, principal.workspace, principal);
    return (await redact(await t.events())).filter(({ subject }) => subject === 'tool:echo');
  };
  const [check, usage] = (await seenBy(t.ana)).filter(({ actor }) => actor === '@private');
  expect(check).toMatchObject({ kind: 'CapabilityCheck', session: null });
  expect(Object.keys(check?.payload ?? {}).sort()).toEqual(['missing_actions', 'passed', 'required_actions']);
  expect(Object.keys(usage?.payload ?? {}).sort()).toEqual(['duration_ms', 'outcome', 'server', 'surface']);
  // Paula and the operator can read all of this. For public developers, everybody can read all of it.
  for (const reader of [paula, t.operator]) expect((await seenBy(reader))[1]?.payload).toHaveProperty('grant.id');
  expect((await seenBy(t.ana)).at(-1)?.payload).toHaveProperty('request_id');
});

test("a member sees neither branch nor session id in a private developer's contexts, nor the agent type of their sessions [harden.private.contexts-sessions]", async () => {
  const t = await teamApp();
  const paula = await t.developer('paula', 'gemini');
  const session_id = await t.session(paula, { branch: 'paula/parser', model: 'gemini-9' });
  const context = { title: 'Parser', summary: 'Half done', repo: 'acme/app', branch: 'paula/parser', session_id };
  const { context_id } = (await t.call('covibe_session', 'publish_context', context, paula)).data;
  await t.done('developers.set_visibility', { developer: 'paula', visibility: 'private' });
  const contextFor = async (caller: TestCaller) => (await t.call('covibe_session', 'get_context', { context_id }, caller)).data.context;
  expect(await contextFor(t.ana)).toMatchObject({ context_id, developer: '@private', title: 'Parser', branch: null, session_id: null, task_ids: [] });
  expect(await contextFor(paula)).toMatchObject({ branch: 'paula/parser', session_id });
  const state = JSON.stringify(await t.team('state', {}, t.ana));
  expect(state).toContain(context_id);
  expect(state).not.toMatch(/gemini|paula/);
});

test('an answer that cannot be redacted is not returned', async () => {
  const t = await teamApp();
  const paula = await t.developer('paula', 'gemini');
  const session_id = await t.session(paula);
  await t.done('developers.set_visibility', { developer: 'paula', visibility: 'private' });
  vi.spyOn(t.app.store.access, 'get').mockRejectedValue(new Error('the disk is gone'));
  const answer = await t.tool('covibe_team', { operation: 'state' }, t.ana);
  expect([answer.isError, answer.reply]).toMatchObject([true, { code: 'INTERNAL' }]);
  expect(JSON.stringify(answer.body)).not.toContain(session_id);
});

test('a thousand events of a private developer are redacted in one batch', async () => {
  const t = await teamApp();
  const paula = await t.developer('paula', 'gemini');
  await t.done('developers.set_visibility', { developer: 'paula', visibility: 'private' });
  const text = `${'long-'.repeat(800)}_${'word'.repeat(800)} ses_01KDVDNA003KSR415X32HSDK32`;
  const event = { category: 'work', kind: 'made', actor: paula.principal.actor, subject: null, payload: { text, request_id: 'req_1' } } as const;
  await t.app.store.append(t.ana.principal.workspace, Array(1_000).fill(event));
  const events = await t.events({ kind: 'made' });
  const redact = await eventRedactor(t.app.store.reader, t.ana.principal.workspace, t.ana.principal);
  const began = performance.now();
  const shown = await redact(events);
  // The limit detects work that grows with the square of the text length. The normal time is a few hundredths of it.
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(new Set(shown.map(({ payload }) => JSON.stringify(payload)))).toEqual(new Set([JSON.stringify({ text: text.replace(/ses_\w+/, '@private') })]));
});
