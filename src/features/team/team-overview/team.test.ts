import { expect, test } from 'vitest';
import { SAME_THUMBNAILS, THUMBNAILS, teamApp } from '../../../testing/scenes/team.ts';

const billing = { title: 'Send invoices by mail', task_type: 'feature' };

test('the team toolset has these eight tools [team.surface.tools] [team.surface.team-operations]', async () => {
  const app = await teamApp();
  const names = app.app.registry.tools().filter(({ toolset }) => toolset === 'team');
  expect(names.map(({ name }) => name)).toEqual([
    'covibe_coordination',
    'covibe_ingest_agent_telemetry',
    'covibe_note',
    'covibe_session',
    'covibe_task',
    'covibe_team',
    'covibe_warning',
    'covibe_workstream',
  ]);
  const schema = app.app.registry.tool('covibe_team')?.inputSchema as { properties: { operation: { enum: string[] } }; required: string[] };
  expect(schema.properties.operation.enum).toEqual(['state', 'feedback', 'audit_parallel_work', 'generate_weekly_summary']);
  expect(schema.required).toEqual(['operation']);
});

/** Calls each of the eight tools once. Together, the calls create one item of every kind. */
const EVERY_TOOL: [tool: string, operation: string | null, args: object][] = [
  ['covibe_session', 'start', {}],
  ['covibe_session', 'publish_context', { title: 'Cache', summary: 'Half done', repo: 'acme/app' }],
  ['covibe_note', null, { kind: 'decision', title: 'Thumbnails live on disk' }],
  ['covibe_task', 'check', SAME_THUMBNAILS],
  ['covibe_workstream', 'plan', { title: 'Accessibility of the shop' }],
  ['covibe_task', 'plan', billing],
  ['covibe_team', 'state', {}],
  ['covibe_coordination', 'summary', {}],
  ['covibe_warning', 'dismiss', { warning_id: 'warn_none', reason: 'r' }],
  ['covibe_ingest_agent_telemetry', null, { source: 'codex', payload: { model: 'gpt-5', usage: { input_tokens: 1, output_tokens: 1 } } }],
];

test('every tool answers in the same four parts [team.envelope.shape]', async () => {
  const app = await teamApp();
  await app.started(THUMBNAILS, app.ben);
  for (const [tool, operation, args] of EVERY_TOOL) {
    for (const sent of [args, { ...args, nonsense: 1 }]) {
      const answer = await app.call(tool, operation, sent);
      expect([tool, Object.keys(answer).sort(), Object.keys(answer.feedback).sort()]).toEqual([
        tool,
        ['data', 'feedback', 'message', 'status'],
        ['required_action', 'type'],
      ]);
      expect(answer.message.length).toBeGreaterThan(0);
      expect(answer.message.length).toBeLessThan(300);
      expect(typeof answer.data).toBe('object');
    }
  }
});

test('every block has fields for its warning and matches, even if there are none [team.envelope.blocked]', async () => {
  const app = await teamApp();
  await app.started(THUMBNAILS, app.ben);
  await app.task('check', SAME_THUMBNAILS);
  const claim = { repo: 'acme/app', paths: ['src/a.ts'] };
  await app.call('covibe_coordination', 'claim', claim, app.ben);
  const blocked = [await app.task('start', billing), await app.task('start', SAME_THUMBNAILS), await app.call('covibe_coordination', 'claim', claim)];
  expect(blocked.map(({ data }) => data.code)).toEqual(['CHECK_REQUIRED', 'VERDICT_REQUIRED', 'CLAIM_CONFLICT']);
  for (const { status, feedback, data } of blocked) {
    expect([status, feedback]).toEqual(['blocked', { type: 'block', required_action: expect.stringMatching(/./) }]);
    expect(Object.keys(data)).toEqual(expect.arrayContaining(['warning_id', 'matches']));
  }
});

test('each kind of id has its prefix and a tail that sorts by time [team.ids.prefixes]', async () => {
  const app = await teamApp();
  await app.started(THUMBNAILS, app.ben);
  const made = async () => {
    const answers = [];
    for (const [tool, operation, args] of EVERY_TOOL) answers.push((await app.call(tool, operation, args)).data);
    const ids = Object.assign({}, ...answers.toReversed()) as Record<string, string>;
    app.clock.advance(1);
    return ids;
  };
  const [first, second] = [await made(), await made()];
  const prefixes = { task_id: 'task', workstream_id: 'wst', session_id: 'ses', check_id: 'chk', warning_id: 'warn', context_id: 'ctx', note_id: 'note' };
  for (const [field, prefix] of Object.entries(prefixes)) {
    expect([field, first[field]]).toEqual([field, expect.stringMatching(new RegExp(`^${prefix}_[0-9A-Z]{26}$`))]);
    expect([field, (first[field] as string) < (second[field] as string)]).toEqual([field, true]);
  }
});

test('the state has every section, under its documented name [team.state.sections] [team.state.field-names] [note.visible.team-state]', async () => {
  const app = await teamApp();
  const session = await app.session();
  const active = await app.started({ ...THUMBNAILS, session_id: session });
  const planned = await app.planned(billing, app.ben);
  const done = await app.started({ title: 'Draw the warehouse map', task_type: 'docs' }, app.ben);
  await app.task('complete', { task_id: done, result_summary: 'drawn' }, app.ben);
  await app.call('covibe_note', null, { kind: 'decision', title: 'Thumbnails live on disk' });
  await app.call('covibe_note', null, { kind: 'blocker', title: 'No disk quota yet' }, app.ben);
  await app.call('covibe_session', 'publish_context', { title: 'Cache', summary: 'Half done', repo: 'acme/app', branch: 'main', session_id: session });
  await app.workstream('plan', { title: 'Accessibility of the shop' }, app.ben);
  await app.task('check', SAME_THUMBNAILS, app.ben);
  const { status, data } = await app.team('state', {}, app.ben);
  expect(status).toBe('ok');
  expect(data.active_work).toEqual([expect.objectContaining({ task_id: active, owner: 'ana', mine: false, status: 'active' })]);
  expect(data.planned_work).toEqual([expect.objectContaining({ task_id: planned, mine: true })]);
  expect(data.recent_completions).toEqual([expect.objectContaining({ task_id: done, result_summary: 'drawn' })]);
  expect(data.active_workstreams).toHaveLength(2);
  expect(data.planned_workstreams).toEqual([expect.objectContaining({ title: 'Accessibility of the shop' })]);
  expect(data.risks_decisions.map(({ kind, title }: { kind: string; title: string }) => [kind, title])).toEqual([
    ['blocker', 'No disk quota yet'],
    ['decision', 'Thumbnails live on disk'],
  ]);
  expect(data.recent_sessions).toEqual([expect.objectContaining({ session_id: session, developer: 'ana', state: 'active' })]);
  expect(data.stale_sessions).toEqual([]);
  expect(data.overlap_warnings).toEqual([expect.objectContaining({ title: SAME_THUMBNAILS.title, developer: 'ben', level: 'escalated' })]);
  expect(data.session_contexts).toEqual([expect.objectContaining({ title: 'Cache', developer: 'ana' })]);
  expect(data.next_actions.map(({ about }: { about: string }) => about)).toEqual([data.overlap_warnings[0].warning_id, planned]);
});

test('the state stays small even for a busy team, and names the sections that it cut', async () => {
  const app = await teamApp();
  const long = (n: number) => `${n} ${'long words '.repeat(700)}`.slice(0, 7_000);
  for (let n = 0; n < 20; n++) {
    const words = {
      title: `${['Sort', 'Paint', 'Count', 'Weigh'][n % 4]} ${['apples', 'barrels', 'candles', 'drums', 'engines'][n % 5]}`,
      task_type: 'chore',
      description: long(n),
    };
    await app.planned(words);
    const done = await app.started({ ...words, title: `${words.title} again` });
    await app.task('complete', { task_id: done, result_summary: long(n) });
    await app.call('covibe_note', null, { kind: 'decision', title: `Decision ${n}`, body: long(n) });
    await app.call('covibe_session', 'publish_context', {
      title: 'c',
      summary: long(n).slice(0, 4_000),
      repo: `acme/${n}`,
      next_actions: [long(n).slice(0, 300)],
    });
  }
  const state = await app.team('state');
  expect(state.data.cut).toEqual(expect.arrayContaining(['planned_work', 'recent_completions', 'risks_decisions', 'session_contexts']));
  expect(JSON.stringify(state).length).toBeLessThan(60_000);
});

test('stale sessions make the state a warning, with a feedback event [team.state.stale-warns] [team.state.stale-feedback-event]', async () => {
  const app = await teamApp();
  const session = await app.session(app.ben);
  app.clock.advance(30 * 60_000);
  expect((await app.team('state')).status).toBe('ok');
  app.clock.advance(1);
  const state = await app.team('state');
  expect(state).toMatchObject({
    status: 'warning',
    data: { code: 'STALE_SESSIONS', stale_sessions: [expect.objectContaining({ session_id: session, state: 'stale' })] },
  });
  expect(state.feedback.required_action).toMatch(/before you take over their work/);
  expect((await app.events({ category: 'feedback' })).at(-1)).toMatchObject({
    kind: 'covibe_team.state',
    payload: { type: 'warning', code: 'STALE_SESSIONS' },
  });
  await app.call('covibe_session', 'heartbeat', { session_id: session }, app.ben);
  expect((await app.team('state')).status).toBe('ok');
});

test('the audit finds running duplicates, and running work that repeats finished work [team.audit.compared-work] [team.audit.running-duplicates] [team.audit.repeats-completed] [team.audit.event] [team.audit.stored-details]', async () => {
  const app = await teamApp();
  expect(await app.team('audit_parallel_work')).toMatchObject({ status: 'ok', data: { compared: 0, conflicts: [] } });
  const first = await app.started(THUMBNAILS, app.ben);
  await app.started(billing, app.ben);
  expect((await app.team('audit_parallel_work')).status).toBe('ok');
  const second = await app.started(SAME_THUMBNAILS);
  const running = await app.team('audit_parallel_work');
  expect(running).toMatchObject({ status: 'warning', data: { code: 'PARALLEL_WORK', compared: 3 } });
  expect(running.feedback.required_action).toMatch(/`data\.conflicts`.*covibe_task .*covibe_workstream /);
  expect(running.data.conflicts).toEqual([
    expect.objectContaining({
      kind: 'running',
      first: expect.objectContaining({ id: first, owner: 'ben' }),
      second: expect.objectContaining({ id: second, owner: 'ana' }),
    }),
  ]);
  await app.task('update', { task_id: second, status: 'blocked' });
  await app.task('complete', { task_id: first, result_summary: 'r' }, app.ben);
  const repeated = await app.team('audit_parallel_work');
  expect(repeated).toMatchObject({ status: 'warning', data: { conflicts: [expect.objectContaining({ kind: 'repeats_completed' })] } });
  const [event] = (await app.events({ kind: 'parallel_work.audit' })).slice(-1);
  expect(event).toMatchObject({
    category: 'work',
    payload: { compared: 3, conflict_count: 1, conflicts: [expect.objectContaining({ score: expect.any(Number), reason: expect.any(String) })] },
  });
});

test('a conflict from the latest audit makes the state a warning while one of its two tasks is running, but not once both have finished [team.state.audit-conflict-warns] [team.state.completed-conflicts]', async () => {
  const app = await teamApp();
  const first = await app.started(THUMBNAILS, app.ben);
  const second = await app.started(SAME_THUMBNAILS);
  await app.team('audit_parallel_work');
  const state = await app.team('state', {}, app.ben);
  expect(state).toMatchObject({
    status: 'warning',
    data: {
      code: 'PARALLEL_WORK',
      latest_parallel_audits: [expect.objectContaining({ conflicts: 1, developer: 'ana' })],
      parallel_audit_conflicts: [expect.objectContaining({ kind: 'running' })],
    },
  });
  expect(state.data.next_actions[0].action).toMatch(/look like the same work/);
  expect(state.feedback.required_action).toContain('`data.parallel_audit_conflicts`');
  await app.task('complete', { task_id: first, result_summary: 'r' }, app.ben);
  expect((await app.team('state')).status).toBe('warning');
  await app.task('complete', { task_id: second, result_summary: 'r' });
  expect(await app.team('state')).toMatchObject({ status: 'ok', data: { parallel_audit_conflicts: [expect.objectContaining({ kind: 'historical' })] } });
});

test('the audit keeps its details within bounds, however much it finds [team.audit.stored-details]', async () => {
  const app = await teamApp();
  for (let n = 0; n < 12; n++) await app.started({ ...THUMBNAILS, title: `${THUMBNAILS.title}, ${'キャッシュ'.repeat(40)} part ${n}` });
  const audit = await app.team('audit_parallel_work');
  expect(audit.data.conflicts).toHaveLength(50);
  expect(audit.message).toMatch(/^\d+ pairs of work look the same\. The 50 most similar are listed\.$/);
  const [event] = await app.events({ kind: 'parallel_work.audit' });
  expect(event?.payload).not.toHaveProperty('truncated');
  expect(event?.payload).toMatchObject({ conflict_count: Number.parseInt(audit.message, 10) });
});

test("feedback lists the messages that the caller's own calls got, newest first [team.feedback.own-events] [team.feedback.type-filter] [team.feedback.limit]", async () => {
  const app = await teamApp();
  const codex = await app.developer('ana', 'codex');
  await app.task('start', billing);
  await app.started(THUMBNAILS, app.ben);
  await app.task('check', SAME_THUMBNAILS, codex);
  await app.task('start', billing, app.ben);
  const all = await app.team('feedback');
  expect(all.data.items.map(({ type, tool }: { type: string; tool: string }) => [type, tool])).toEqual([
    ['warning', 'covibe_task.check'],
    ['block', 'covibe_task.start'],
  ]);
  expect(all.data.items[1]).toMatchObject({ code: 'CHECK_REQUIRED', required_action: expect.stringContaining('check') });
  expect((await app.team('feedback', { feedback_type: 'block' })).data.items).toHaveLength(1);
  expect((await app.team('feedback', { feedback_type: 'error' })).data.items).toEqual([]);
  for (const feedback_type of ['warning', 'info']) expect((await app.team('feedback', { feedback_type })).status).toBe('ok');
  expect((await app.team('feedback', { limit: 1 })).data.items).toHaveLength(1);
  expect((await app.team('feedback', { limit: 100 })).data.items).toHaveLength(2);
  for (const limit of [0, 101, 1.5]) expect(await app.team('feedback', { limit })).toMatchObject({ status: 'error', data: { field: 'limit' } });
  expect(await app.team('feedback', { feedback_type: 'gossip' })).toMatchObject({ status: 'error', data: { field: 'feedback_type' } });
});

test('the weekly summary lists the recorded week in sections [team.weekly-summary.sections] [team.weekly-summary.event] [team.weekly-summary.marks-stale] [note.visible.weekly-summary]', async () => {
  const app = await teamApp();
  const long = await app.started({ title: 'Before the week', task_type: 'chore' });
  await app.task('complete', { task_id: long, result_summary: 'old' });
  app.clock.advance(8 * 24 * 3_600_000);
  await app.session(app.ben, { agent_name: 'Bot *one*' });
  const done = await app.started(billing, app.ben);
  await app.task('complete', { task_id: done, result_summary: 'Mail goes <out>' }, app.ben);
  await app.started(THUMBNAILS, app.ben);
  const check = await app.task('check', SAME_THUMBNAILS);
  const scope_verdict = { verdict: 'distinct', candidates: check.data.candidates.map(({ id }: { id: string }) => ({ id, same_scope: false, reason: 'r' })) };
  await app.task('start', { ...SAME_THUMBNAILS, check_id: check.data.check_id, scope_verdict });
  await app.planned({ title: 'Next quarter', task_type: 'spike' });
  await app.call('covibe_note', null, { kind: 'blocker', title: 'Quota' });
  await app.call('covibe_note', null, { kind: 'decision', title: 'Disk' });
  await app.team('audit_parallel_work');
  app.clock.advance(31 * 60_000);
  const { status, data } = await app.team('generate_weekly_summary');
  expect(status).toBe('ok');
  expect(data.completed).toEqual([expect.objectContaining({ id: done, title: billing.title, owner: 'ben' })]);
  expect(data.active).toHaveLength(2);
  expect(data.planned).toEqual([expect.objectContaining({ title: 'Next quarter' })]);
  expect(data.blockers).toEqual([expect.objectContaining({ title: 'Quota' })]);
  expect(data.decisions).toEqual([expect.objectContaining({ title: 'Disk' })]);
  expect(data.overlap_warnings.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['warned', 'judged distinct']);
  expect(new Set(data.overlap_warnings.map(({ title }: { title: string }) => title)).size).toBe(1);
  expect(data.overlap_warnings[0].title).toEqual(expect.any(String));
  expect(data.parallel_audits).toEqual([expect.objectContaining({ compared: 4, conflicts: 1 })]);
  expect(data.agent_sessions).toEqual([expect.objectContaining({ state: 'stale' })]);
  for (const heading of [
    'Completed (1)',
    'Active (2)',
    'Planned (1)',
    'Blockers (1)',
    'Decisions (1)',
    'Overlap warnings (2)',
    'Parallel audits (1)',
    'Agent sessions (1)',
  ]) {
    expect(data.markdown).toContain(`## ${heading}`);
  }
  expect(data.markdown).toContain('Bot \\*one\\* of ben');
  expect(data.markdown).toContain(': stale');
  expect(data.markdown).toContain('Mail goes \\<out\\>');
  expect(await app.events({ kind: 'weekly_summary.generated' })).toEqual([
    expect.objectContaining({ category: 'work', payload: expect.objectContaining({ completed: 1 }) }),
  ]);
  expect((await app.team('generate_weekly_summary', { days: 31 })).data.completed).toHaveLength(2);
});

test('every call is one usage event, every change a work event, every warning and block also feedback [team.log.usage-event-per-call] [team.log.work-event-per-change] [team.log.feedback-event]', async () => {
  const app = await teamApp();
  const kinds = async () => (await app.events()).map(({ category, kind }) => `${category} ${kind}`);
  const added = async (call: () => Promise<unknown>) => {
    const before = (await kinds()).length;
    await call();
    return (await kinds()).slice(before).filter((kind) => !kind.startsWith('audit'));
  };
  expect(await added(() => app.task('start', billing))).toEqual(['usage covibe_task.start', 'feedback covibe_task.start']);
  expect(await added(() => app.task('check', { title: 'x' }))).toEqual(['usage covibe_task.check']);
  expect(await added(() => app.task('check', billing))).toEqual(['work task.checked', 'usage covibe_task.check']);
  expect(await added(() => app.task('start', billing))).toEqual(['work workstream.auto_created', 'work task.started', 'usage covibe_task.start']);
  expect(await added(() => app.task('check', billing))).toEqual(['work task.checked', 'usage covibe_task.check', 'feedback covibe_task.check']);
});
