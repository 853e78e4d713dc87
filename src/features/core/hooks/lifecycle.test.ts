import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { edit, hooksApp, MINUTE, REPO } from '../../../testing/scenes/hooks.ts';
import { liveClaims } from '../../team/coordination/index.ts';

const DAY = 86_400_000;

test("a run starts a session of its token's agent type and keeps it through every restart until the run ends", async () => {
  const t = await hooksApp();
  const start = { repo: REPO, branch: 'main', model: 'opus', folder: '/home/ana/app' };
  const session_id = await t.begun('run-1', t.claude, start);
  const [event] = await t.events({ kind: 'session.started' });
  expect(event).toMatchObject({
    actor: t.claude.principal.actor,
    subject: session_id,
    session: session_id,
    payload: { agent_type: 'claude-code', model: 'opus', repo: REPO, branch: 'main' },
  });
  for (const source of ['startup', 'resume', 'clear', 'compact'] as const) expect(await t.begun('run-1', t.claude, { ...start, source })).toBe(session_id);
  t.clock.advance(2 * 60 * MINUTE);
  expect(await t.begun('run-1', t.claude, { source: 'resume' })).toBe(session_id);
  expect(await t.begun('run-2')).not.toBe(session_id);
  await t.hear('session-end');
  expect(await t.begun('run-1', t.claude, { source: 'resume' })).not.toBe(session_id);
  expect(await t.events({ kind: 'session.started' })).toHaveLength(3);
  expect(await t.run()).toMatchObject({ client: 'claude-code', repo: REPO, folder: '/home/ana/app', automatic: 1, ended_at: null });
});

test('two hooks at the start of one run, for example from two settings files, start one session', async () => {
  const t = await hooksApp();
  const all = await Promise.all(Array.from({ length: 5 }, () => t.begun('run-1')));
  expect(new Set(all).size).toBe(1);
  expect(await t.events({ kind: 'session.started' })).toHaveLength(1);
});

test("the start hook returns the session, the repository, others' claims in it and waiting items in at most 250 tokens", async () => {
  const t = await hooksApp();
  for (let index = 0; index < 7; index++) await t.claimed([`src/part${index}/**`, `docs/${index}.md`], t.cursor);
  await t.claimed(['other/**'], t.cursor, { repo: 'github.com/acme/other' });
  await t.claimed(['own/**'], t.claude);
  for (let index = 0; index < 3; index++) await t.call('covibe_coordination', 'ask', { to: 'ana', message: 'Which?' }, t.cursor);
  await t.call('covibe_coordination', 'handoff', { to: 'ana', message: 'Yours' }, t.cursor);
  const { context, session_id } = await t.hear('session-start', { repo: REPO, source: 'startup' });
  expect(context?.split('\n')).toEqual([
    `Covenant: this run is session ${session_id}. Pass it as session_id to the covibe tools; start no other.`,
    `In claims, set repo to "${REPO}".`,
    expect.stringMatching(/^Claimed by others, so your edits are denied: "src\/part0\/\*\*" \+1 \(ben\), .+"src\/part4\/\*\*" \+1 \(ben\), and 2 more\.$/),
    'Waiting for you: 3 asks, 1 handoff (covibe_coordination list, message_list).',
  ]);
  expect(countTokens(context ?? '')).toBeLessThanOrEqual(250);
  expect(context).not.toMatch(/other\/|own\//);
  // The items were only counted and not delivered.
  expect(await t.events({ kind: 'ask.delivered' })).toEqual([]);
  const zoe = await t.developer('Zoë-Ωλιβια '.repeat(5).trim(), 'codex');
  for (let index = 0; index < 9; index++) await t.claimed([`${index}${'/x9Q-zW_7k'.repeat(20)}`, 'b'], zoe, { repo: 'github.com/acme/odd' });
  const odd = await t.hear('session-start', { client_session: 'odd', repo: 'github.com/acme/odd' });
  expect(odd.context).toMatch(/and \d more/);
  expect(countTokens(odd.context ?? '')).toBeLessThanOrEqual(250);
});

test('a session that the agent starts itself becomes the run’s session, and the automatic session ends', async () => {
  const t = await hooksApp();
  const automatic = await t.begun('run-1');
  await t.claimed(['a.ts'], t.claude, { session_id: automatic });
  const own = await t.session(t.claude);
  const foreign = await t.session(t.cursor);
  expect(await t.hear('before-tool', { session_id: own })).toMatchObject({ session_id: automatic });
  expect(await t.hear('after-tool', { session_id: foreign })).toMatchObject({ session_id: automatic });
  expect(await t.hear('after-tool', { session_id: 'ses_unknown' })).toMatchObject({ session_id: automatic });
  const bound = await t.hear('after-tool', { session_id: own });
  expect(bound.session_id).toBe(own);
  expect(bound.context).toMatch(new RegExp(`^Covenant: this run now belongs to session ${own}\\. Session ${automatic}, .* 1 claim\\(s\\) were released`));
  expect((await t.events({ kind: 'session.ended' })).map(({ subject }) => subject)).toEqual([automatic]);
  expect(await t.hear('after-tool', { session_id: own })).toMatchObject({ session_id: own, context: null });
  // If the agent starts another session, the first one does not end, because the agent may continue in it.
  const second = await t.session(t.claude);
  expect((await t.hear('after-tool', { session_id: second })).session_id).toBe(second);
  expect(await t.events({ kind: 'session.ended' })).toHaveLength(1);
  // An ended session belongs to no run.
  await t.call('covibe_session', 'end', { session_id: own }, t.claude);
  expect((await t.hear('after-tool', { session_id: own })).session_id).toBe(second);
});

test('the end of a run ends its session like covibe_session end, but not a session in which another run works', async () => {
  const t = await hooksApp();
  const session = await t.begun('run-1');
  await t.claimed(['a.ts'], t.claude, { session_id: session });
  await t.begun('run-2');
  const attempt = async () => (await t.hear('before-tool', { ...edit('a.ts'), client_session: 'run-2' })).decision;
  expect(await attempt()).toBe('deny');
  await t.hear('after-tool', { client_session: 'run-2', session_id: session });
  expect(await attempt()).toBe('allow');
  await t.hear('session-end', { client_session: 'run-2' });
  const live = () => liveClaims(t.app.store.reader, t.claude.principal.workspace, t.claude.principal, t.clock.now());
  expect(await live()).toHaveLength(1);
  await t.hear('session-end');
  expect(await live()).toEqual([]);
  expect(await t.events({ kind: 'claim.released' })).toHaveLength(1);
  expect((await t.run())?.ended_at).toBe(t.clock.now());
  const before = (await t.events()).length;
  await t.hear('session-end');
  await t.hear('session-end', { client_session: 'unknown' });
  expect((await t.events()).length).toBe(before);
  expect(await t.run('unknown')).toBeUndefined();
});

test('a run is recorded at its first hook of any kind; a hook without a run id records no run', async () => {
  const t = await hooksApp();
  expect(await t.hear('before-tool', edit('a.ts'))).toMatchObject({ session_id: null });
  expect(await t.run()).toMatchObject({ session_id: null, started_at: t.clock.now() });
  const own = await t.session(t.claude);
  expect(await t.hear('after-tool', { session_id: own })).toMatchObject({ session_id: own });
  const bare = await t.hear('session-start', { client_session: undefined, repo: REPO });
  expect(bare).toMatchObject({ session_id: null, context: expect.stringContaining('covibe_session start') });
  expect(await t.app.store.reader.selectFrom('client_runs').selectAll().execute()).toHaveLength(1);
});

test('runs without a hook for a week are deleted, and the retention list names this period', async () => {
  const t = await hooksApp();
  await t.begun('run-1');
  await t.begun('run-2');
  await t.hear('session-end', { client_session: 'run-2' });
  t.clock.advance(6 * DAY);
  await t.begun('run-3');
  t.clock.advance(DAY + 1);
  const names = async () => (await t.app.store.reader.selectFrom('client_runs').select('client_session').execute()).map((run) => run.client_session);
  await expect.poll(names).toEqual(['run-3']);
  const { items } = (await t.done('retention.list', {})) as { items: { what: string; ms: number | null }[] };
  expect(items.find(({ what }) => what.startsWith('Runs of agent programs'))?.ms).toBe(7 * DAY);
});

test('a run neither takes over nor ends a session in which another agent of the same developer works, even if its calls name that session', async () => {
  const t = await hooksApp();
  const theirs = await t.begun('run-9', t.codex);
  await t.claimed(['a.ts'], t.codex, { session_id: theirs });
  const own = await t.begun('run-1');
  expect((await t.hear('after-tool', { session_id: theirs })).session_id).toBe(own);
  expect((await t.hear('before-tool', edit('a.ts'))).decision).toBe('deny');
  expect((await t.hear('before-tool', { ...edit('a.ts'), client_session: undefined, session_id: theirs })).decision).toBe('deny');
  await t.hear('session-end');
  expect((await t.events({ kind: 'session.ended' })).map(({ subject }) => subject)).toEqual([own]);
  expect(await t.events({ kind: 'claim.released' })).toEqual([]);
  // This is also true if the hooks of the run are silent for long, because the run may continue.
  const second = await t.begun('run-1');
  t.clock.advance(31 * MINUTE);
  expect((await t.hear('after-tool', { session_id: theirs })).session_id).toBe(second);
});

test('a run does not take over a session of another agent of the same developer that works without hooks', async () => {
  const t = await hooksApp();
  const theirs = await t.session(t.codex);
  await t.claimed(['a.ts'], t.codex, { session_id: theirs });
  const own = await t.begun('run-1');
  expect(await t.hear('after-tool', { session_id: theirs })).toMatchObject({ session_id: own, context: null });
  expect((await t.hear('before-tool', edit('a.ts'))).decision).toBe('deny');
  await t.hear('session-end');
  expect((await t.events({ kind: 'session.ended' })).map(({ subject }) => subject)).toEqual([own]);
  // The same agent on another machine is a different agent, too.
  const elsewhere = await t.session(await t.developer('ana', 'claude-code'));
  expect((await t.hear('after-tool', { client_session: 'run-2', session_id: elsewhere })).session_id).toBeNull();
});

test('if one token serves several agents, a session belongs to the agent that it was started for', async () => {
  const t = await hooksApp();
  const codex = await t.session(t.ana, { agent_type: 'Codex' });
  const claude = await t.session(t.ana, { agent_type: 'claude' });
  const after = async (session_id: string) => (await t.hear('after-tool', { session_id }, t.ana)).session_id;
  expect(await after(codex)).toBeNull();
  expect(await after(claude)).toBe(claude);
  expect(await after(codex)).toBe(claude);
});

test('an agent whose hooks use another token is bound to the session that its own start returned', async () => {
  for (const type of [undefined, 'claude-code'] as const) {
    const t = await hooksApp();
    const connection = await t.developer('ana', type);
    const automatic = await t.begun('run-1');
    const own = await t.session(connection);
    await t.claimed(['a.ts'], connection, { session_id: own });
    const after = async (question: object) => (await t.hear('after-tool', { session_id: own, ...question })).session_id;
    expect(await after({})).toBe(automatic);
    expect(await after({ session_started: true })).toBe(own);
    expect(await after({})).toBe(own);
    const attempt = async (client_session: string, caller = t.claude) => (await t.hear('before-tool', { ...edit('a.ts'), client_session }, caller)).decision;
    await t.begun('run-2');
    expect([await attempt('run-1'), await attempt('run-2'), await attempt('run-7', t.cursor)]).toEqual(['allow', 'deny', 'deny']);
    await t.hear('session-end');
    expect((await t.events({ kind: 'session.ended' })).map(({ subject }) => subject)).toEqual([automatic, own]);
    expect(await attempt('run-7', t.cursor)).toBe('allow');
  }
});

test('a run is not bound to a started session that has ended or that belongs to another developer or agent type', async () => {
  const t = await hooksApp();
  const automatic = await t.begun('run-1');
  const over = await t.session(t.ana);
  await t.call('covibe_session', 'end', { session_id: over }, t.ana);
  const bens = await t.session(await t.developer('ben', 'claude-code'));
  for (const session_id of [bens, await t.session(t.codex), await t.session(t.ana, { agent_type: 'codex' }), over]) {
    expect((await t.hear('after-tool', { session_id, session_started: true })).session_id).toBe(automatic);
  }
});

test("a session in which another agent's run works is taken over only after that run was silent for long, and does not end while that run continues", async () => {
  const t = await hooksApp();
  const session = await t.session(t.ana);
  const started = { session_id: session, session_started: true };
  expect((await t.hear('after-tool', { ...started, client_session: 'run-9' }, t.codex)).session_id).toBe(session);
  const automatic = await t.begun('run-1');
  expect((await t.hear('after-tool', started)).session_id).toBe(automatic);
  t.clock.advance(31 * MINUTE);
  expect((await t.hear('after-tool', started)).session_id).toBe(session);
  const ended = async () => (await t.events({ kind: 'session.ended' })).map(({ subject }) => subject);
  await t.hear('before-tool', { client_session: 'run-9' }, t.codex);
  await t.hear('session-end');
  expect(await ended()).toEqual([automatic]);
  await t.hear('session-end', { client_session: 'run-9' }, t.codex);
  expect(await ended()).toEqual([automatic, session]);
});

test('a session that a run only named is not returned as the run’s', async () => {
  const t = await hooksApp();
  const session_id = await t.session(t.claude);
  expect((await t.hear('before-tool', { session_id })).session_id).toBeNull();
  for (const event of ['before-tool', 'after-tool', 'session-start'] as const) {
    expect((await t.hear(event, { session_id, client_session: undefined })).session_id).toBeNull();
  }
});

test('after an agent ends the session of its run, the next prompt starts a new session and reports it', async () => {
  const t = await hooksApp();
  const first = await t.begun('run-1', t.claude, { branch: 'main', dirty_files: ['a.ts'] });
  await t.call('covibe_session', 'end', { session_id: first }, t.claude);
  expect((await t.hear('after-tool', { session_id: first })).session_id).toBeNull();
  expect((await t.hear('compact')).context).not.toContain(first);
  const { session_id, context } = await t.hear('prompt');
  expect(session_id).not.toBe(first);
  expect(context).toBe(`Covenant: this run is now session ${session_id}. Pass it as session_id to the covibe tools.`);
  expect((await t.events({ kind: 'session.started' })).at(-1)).toMatchObject({ subject: session_id, payload: { repo: REPO } });
  expect(await t.hear('prompt')).toMatchObject({ session_id, context: null });
  // Changes from before the run still do not count as work of the run.
  expect(await t.hear('stop', { repo: REPO, dirty_files: ['a.ts'] })).toMatchObject({ decision: 'allow', notice: null });
});

test('a hook that arrives after the end of a run does not reopen its session', async () => {
  const t = await hooksApp();
  const first = await t.begun('run-1');
  await t.hear('session-end');
  expect(await t.hear('after-tool')).toMatchObject({ session_id: null });
  expect(await t.run()).toMatchObject({ ended_at: null, session_id: null });
  const { session_id, context } = await t.hear('prompt', { hears: false });
  expect([session_id === null, session_id === first, context]).toEqual([false, false, null]);
});

test('the start hook does not list claims on symbols, because they deny no edit', async () => {
  const t = await hooksApp();
  await t.claimed([], t.cursor, { symbols: ['src/a.ts#parse'] });
  expect((await t.hear('session-start', { repo: REPO })).context).not.toContain('denied');
  await t.claimed(['src/b.ts'], t.cursor, { symbols: ['src/c.ts#parse'] });
  expect((await t.hear('session-start', { repo: REPO })).context).toContain('denied: "src/b.ts" (ben).');
});
