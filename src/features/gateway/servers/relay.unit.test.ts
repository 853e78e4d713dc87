import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import type { Exchange, Json } from '../../../kernel/relay.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { serveFixture } from '../../../testing/stand-ins/conformance-server.ts';
import { child, EVERYTHING, exchangeOf, npm, type UpstreamApp, upstreamApp } from '../../../testing/stand-ins/upstreams.ts';
import { PendingCall, PendingCalls } from './pending-calls.ts';

const textOf = ({ body }: { body: Record<string, unknown> }) => (body.content as { text: string }[])[0]?.text;
const jsonOf = (answer: { body: Record<string, unknown> }) => JSON.parse(String(textOf(answer)));
const ELICITATION = { method: 'elicitation/create', params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } } };

async function asks(options: Json = {}) {
  const app = await upstreamApp([{ name: 'far', ...child('asks'), ...options }]);
  await app.event('upstream.started', 'far');
  return app;
}

/** Starts a call of another caller. It stays in progress until the test ends it. */
async function waiting(app: UpstreamApp) {
  let begun = () => {};
  const isWaiting = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const call = app.call('far_wait', {}, { exchange: exchangeOf({ log: { level: 'error', send: ({ data }) => data === 'waiting' && begun() } }) });
  await isWaiting;
  return {
    async end() {
      await app.call('far_go', {});
      expect(textOf(await call)).toBe('waited');
    },
  };
}

async function fixture(eras: 'legacy' | 'modern') {
  const far = await serveFixture(eras);
  onTestFinished(() => far.close());
  const app = await upstreamApp([{ name: 'far', prefix: false, url: far.url }]);
  await app.event('upstream.started', 'far');
  return Object.assign(app, { far });
}

/** A client with the newer revision. When it gets `input_required`, it calls again with the answers. */
const modern = (rounds: Exchange['rounds'] = {}): Exchange => exchangeOf({ capabilities: { elicitation: {}, sampling: {}, roots: {} }, rounds });

test("a result passes on the other server's own content and isError unchanged [gateway.result.own-content]", async () => {
  const app = await asks();
  expect((await app.call('far_odd', {})).relayed).toEqual({
    result: {
      content: [
        { type: 'text', text: 'x', flavour: 'sour' },
        { type: 'hologram', data: 1 },
      ],
      structuredContent: { a: 1 },
      vendor: [1],
      _meta: { 'x/y': 1 },
    },
  });
  const failed = await app.call('far_fails', {});
  expect(failed).toMatchObject({ isError: true, body: { content: [{ type: 'text', text: 'it did not work' }], isError: true } });
  expect((await app.call('far_error', {})).relayed).toEqual({ error: { code: -32050, message: 'a rule of mine', data: { rule: 7 } } });
  expect((await app.call('far_invalid', {})).reply).toMatchObject({ code: 'UPSTREAM_INVALID' });
  // An invalid answer must not be passed on to the caller as a result of the server.
  const garbage = await upstreamApp([{ name: 'far', ...child('garbage') }]);
  await garbage.event('upstream.started', 'far');
  const broken = await garbage.call('far_broken', {});
  expect(broken.relayed).toBeUndefined();
  expect(broken.reply).toMatchObject({ code: 'UPSTREAM_INVALID', message: expect.stringContaining('neither a result nor an error') });
  const { payload } = (await app.events({ kind: 'far_fails' }))[0] as { payload: Json };
  expect(payload).toMatchObject({ outcome: 'error_result', server: 'far' });
});

test('every content type of a real server passes unchanged, over stdio and in both revisions over HTTP', async () => {
  const app = await upstreamApp([{ name: 'all', ...npm(EVERYTHING, 'stdio') }]);
  await app.event('upstream.started', 'all');
  expect(await app.call('all_get-structured-content', { location: 'Chicago' })).toMatchObject({
    isError: false,
    body: { structuredContent: { temperature: expect.any(Number), conditions: expect.any(String) } },
  });
  expect((await app.call('all_get-tiny-image', {})).body.content).toEqual(
    expect.arrayContaining([expect.objectContaining({ type: 'image', mimeType: 'image/png' })]),
  );
  expect((await app.call('all_get-resource-links', { count: 2 })).body.content).toEqual(
    expect.arrayContaining([expect.objectContaining({ type: 'resource_link' })]),
  );
  for (const eras of ['legacy', 'modern'] as const) {
    const far = await fixture(eras);
    const types = async (name: string) => ((await far.call(name, {})).body.content as { type: string }[]).map(({ type }) => type);
    expect(await types('test_multiple_content_types')).toEqual(['text', 'image', 'resource']);
    expect(await types('test_audio_content')).toEqual(['audio']);
  }
});

test.each(['legacy', 'modern'] as const)('progress and log messages of a %s server reach the caller that requested them', async (eras) => {
  const app = await fixture(eras);
  const told: Json[] = [];
  await app.call('test_tool_with_progress', {}, { exchange: exchangeOf({ progress: (params) => told.push(params) }) });
  expect(told).toEqual([0, 50, 100].map((progress) => ({ progress, total: 100 })));
  const logged: unknown[] = [];
  const log = (level: string) => exchangeOf({ log: { level, send: (params) => logged.push(params.data) } });
  await app.call('test_tool_with_logging', {}, { exchange: log('info') });
  expect(logged).toEqual(['Tool execution started', 'Tool processing data', 'Tool execution completed']);
  logged.length = 0;
  await app.call('test_tool_with_logging', {}, { exchange: log('error') });
  expect(logged).toEqual([]);
});

test('a log message from the requested level on reaches its caller only if no other call is in progress', async () => {
  const app = await asks();
  const heard: unknown[] = [];
  const exchange = exchangeOf({ log: { level: 'warning', send: (params) => heard.push(params.data) } });
  await app.call('far_log', { text: 'careful' }, { exchange });
  expect(heard).toEqual(['careful', 'warning']);
  heard.length = 0;
  const other = await waiting(app);
  await app.call('far_log', { text: 'whose?' }, { exchange });
  expect(heard).toEqual([]);
  await other.end();
});

test("the caller's trace context is passed on; keys of its own connection are not", async () => {
  const app = await asks();
  const meta = { traceparent: '00-1-2-01', 'io.modelcontextprotocol/protocolVersion': '1999-01-01', progressToken: 'mine' };
  expect(jsonOf(await app.call('far_meta', {}, { exchange: exchangeOf({ meta }) }))).toEqual({ traceparent: '00-1-2-01' });
  expect(jsonOf(await app.call('far_meta', {}))).toBeNull();
});

/** The form in which the client gets the question. */
const shownBy = (server: string) => ({
  ...ELICITATION,
  params: { ...ELICITATION.params, message: `[${server}] asks: ${JSON.stringify(ELICITATION.params.message)}`, _meta: { 'covenant/server': server } },
});

test("an older server's question goes to a client that can be asked, and its answer returns to the server", async () => {
  const app = await asks();
  const asked: unknown[] = [];
  const exchange = exchangeOf({
    capabilities: { elicitation: {}, roots: {} },
    ask: async (method, params) => {
      asked.push([method, params]);
      return { action: 'accept', content: { sure: true } };
    },
  });
  expect(jsonOf(await app.call('far_ask', ELICITATION, { exchange }))).toEqual([{ action: 'accept', content: { sure: true } }]);
  expect(asked).toEqual([['elicitation/create', shownBy('far').params]]);
  // The server gets an error if it asks for something that the client did not declare.
  expect(jsonOf(await app.call('far_ask', { method: 'sampling/createMessage' }, { exchange }))).toEqual([{ error: expect.objectContaining({ code: -32601 }) }]);
  const url = { method: 'elicitation/create', params: { mode: 'url', message: 'Look', url: 'https://example.com', elicitationId: '1' } };
  expect(jsonOf(await app.call('far_ask', url, { exchange }))).toEqual([{ error: expect.objectContaining({ code: -32601 }) }]);
  expect(asked).toHaveLength(1);
});

test('a newer-revision client is asked by input_required for each question, and the call continues where it stopped', async () => {
  const app = await asks();
  const args = { ...ELICITATION, times: 2 };
  const answers: Json[] = [];
  let state: string | undefined;
  let responses: Json | undefined;
  for (let round = 0; round < 2; round++) {
    const { body } = await app.call('far_ask', args, { exchange: modern({ requestState: state, inputResponses: responses }) });
    expect(body).toEqual({
      resultType: 'input_required',
      inputRequests: { [`q${round + 1}`]: shownBy('far') },
      requestState: expect.stringMatching(/^cvs_.{43}$/),
    });
    state = body.requestState as string;
    answers.push({ action: 'accept', content: { round } });
    responses = { [`q${round + 1}`]: answers[round] };
  }
  const last = { requestState: state, inputResponses: responses };
  // A different call cannot continue the request, and a state cannot be used twice.
  expect((await app.call('far_ask', { ...args, times: 3 }, { exchange: modern(last) })).reply).toMatchObject({ code: 'ROUND_UNKNOWN' });
  expect(jsonOf(await app.call('far_ask', args, { exchange: modern(last) }))).toEqual(answers);
  expect((await app.call('far_ask', args, { exchange: modern(last) })).reply).toMatchObject({ code: 'ROUND_UNKNOWN' });
});

test('a question expires after five minutes without an answer, or when its server restarts', async () => {
  const app = await asks();
  const begin = async () => (await app.call('far_ask', ELICITATION, { exchange: modern() })).body.requestState as string;
  const goOn = async (requestState: string) =>
    (await app.call('far_ask', ELICITATION, { exchange: modern({ requestState, inputResponses: { q1: { action: 'decline' } } }) })).reply;
  const late = await begin();
  app.clock.advance(5 * 60_000);
  expect(await goOn(late)).toMatchObject({ code: 'ROUND_UNKNOWN' });
  const restarted = await begin();
  await app.done('servers.restart', { server: 'far' });
  expect(await goOn(restarted)).toMatchObject({ code: 'ROUND_UNKNOWN' });
});

test('a call that ends because a person did not answer in time does not count as a failure of the server', async () => {
  const app = await asks();
  const tool = app.app.upstreams.in(DEFAULT_WORKSPACE_ID).tools.tool('far_ask');
  for (let call = 0; call < 3; call++) {
    const time = new AbortController();
    const ask = () => {
      time.abort(new Refusal('TOOL_TIMEOUT', 'The call took too long.', 'Call again.'));
      return new Promise<never>(() => {});
    };
    const exchange = exchangeOf({ capabilities: { elicitation: {} }, ask });
    const answer = tool?.call(ELICITATION, { signal: time.signal, exchange, requestId: 'req_1', log: app.app.log });
    await expect(answer).rejects.toMatchObject({ code: 'TOOL_TIMEOUT' });
  }
  expect((await app.server('far')).state).toBe('up');
});

test("the time a person takes to answer does not count toward the call's timeout", async () => {
  const app = await asks({ timeout_s: 0.4 });
  const ask = async () => {
    await new Promise((resolve) => setTimeout(resolve, 800));
    return { action: 'decline' };
  };
  const exchange = exchangeOf({ capabilities: { elicitation: {} }, ask });
  expect(jsonOf(await app.call('far_ask', ELICITATION, { exchange }))).toEqual([{ action: 'decline' }]);
});

test("if a caller has not answered for a minute, its call ends so that another call's question can be asked", async () => {
  const app = await asks();
  const left = await app.call('far_ask', ELICITATION, { exchange: modern() });
  const refused = await app.call('far_ask', { ...ELICITATION, another: 1 }, { exchange: modern() });
  expect(jsonOf(refused)).toEqual([{ error: expect.objectContaining({ message: expect.stringContaining('Several calls are in progress') }) }]);
  app.clock.advance(60_000);
  const asked = await app.call('far_ask', { ...ELICITATION, another: 2 }, { exchange: modern() });
  expect(asked.body).toMatchObject({ resultType: 'input_required', inputRequests: { q1: shownBy('far') } });
  const back = modern({ requestState: left.body.requestState as string, inputResponses: { q1: { action: 'decline' } } });
  expect((await app.call('far_ask', ELICITATION, { exchange: back })).reply).toMatchObject({ code: 'ROUND_UNKNOWN' });
});

test("a server's internal state for its questions does not reach the caller's client", async () => {
  const app = await asks();
  const { params } = ELICITATION;
  const question = (meta: Json) => ({ method: ELICITATION.method, params: { ...params, _meta: meta } });
  const withToken = question({ progressToken: 7 });
  expect((await app.call('far_ask', withToken, { exchange: modern() })).body.inputRequests).toEqual({ q1: shownBy('far') });
  app.clock.advance(5 * 60_000);
  const exchange = exchangeOf({ capabilities: { elicitation: {} }, ask: async (_method, given) => given });
  const [told] = jsonOf(await app.call('far_ask', question({ progressToken: 7, kept: 1 }), { exchange }));
  expect(told).toEqual({ ...shownBy('far').params, _meta: { kept: 1, 'covenant/server': 'far' } });
});

test('a question is refused if its call already has 16 open questions', async () => {
  const flights = new PendingCalls(() => 0);
  flights.enter(new PendingCall('far', modern()));
  const { signal } = new AbortController();
  const ask = () => flights.ask(ELICITATION.method, ELICITATION.params, signal);
  for (let open = 0; open < 16; open++) void ask();
  await expect(ask()).rejects.toThrow('This call already has 16 open questions.');
});

test('an unknown state is refused, and the call does not start again', async () => {
  const app = await asks();
  expect((await app.call('far_odd', {}, { exchange: modern({ requestState: 'mine' }) })).reply).toMatchObject({ code: 'ROUND_UNKNOWN' });
});

test('with several calls in progress nobody is asked, because the question cannot be assigned to one', async () => {
  const app = await asks();
  const other = await waiting(app);
  const answer = await app.call('far_ask', ELICITATION, { exchange: modern() });
  expect(jsonOf(answer)).toEqual([{ error: expect.objectContaining({ message: expect.stringContaining('Several calls are in progress') }) }]);
  await other.end();
});

test('a caller that cannot be asked gets a refusal that names the required input', async () => {
  const app = await asks();
  expect((await app.call('far_ask', ELICITATION)).reply).toMatchObject({ code: 'INPUT_REQUIRED', message: expect.stringContaining('elicitation/create') });
  expect(jsonOf(await app.call('far_ask', { method: 'roots/list' }))).toEqual([{ error: expect.anything() }]);
  const newer = await fixture('modern');
  const exchange = exchangeOf({ capabilities: { elicitation: {} } });
  expect((await newer.call('test_input_required_result_elicitation', {}, { exchange })).reply).toMatchObject({ code: 'INPUT_REQUIRED' });
});

test("a newer server's input_required passes unchanged, and so does the client's answer", async () => {
  const app = await fixture('modern');
  const name = 'test_input_required_result_multi_round';
  const first = await app.call(name, {}, { exchange: modern() });
  expect(first.body).toMatchObject({
    resultType: 'input_required',
    inputRequests: { step1: { method: 'elicitation/create' } },
    requestState: expect.any(String),
  });
  const bring = (key: string, body: Record<string, unknown>) =>
    modern({ requestState: body.requestState as string, inputResponses: { [key]: { action: 'accept', content: { name: 'Ann', color: 'red' } } } });
  const second = await app.call(name, {}, { exchange: bring('step1', first.body) });
  expect(second.body).toMatchObject({ inputRequests: { step2: {} } });
  expect(textOf(await app.call(name, {}, { exchange: bring('step2', second.body) }))).toBe('Both were answered.');
  const tampered = modern({ requestState: `${second.body.requestState}x`, inputResponses: {} });
  expect(await app.call(name, {}, { exchange: tampered })).toMatchObject({
    reply: { code: 'UPSTREAM_ERROR' },
    relayed: { error: { code: expect.any(Number) } },
  });
});

test('question and answer pass through a gateway behind a gateway', async () => {
  const inner = await asks();
  const { url } = await inner.serve();
  const bob = await inner.developer('bob');
  await inner.done('capabilities.grant', { action: 'tool.call.far_ask', developer: 'bob' });
  const headers = { Authorization: `Bearer ${bob.token}` };
  for (const protocol of ['modern', 'legacy']) {
    const outer = await upstreamApp([{ name: 'in', url: `${url}/mcp/gateway`, headers, protocol }]);
    await outer.event('upstream.started', 'in');
    const { body } = await outer.call('in_far_ask', ELICITATION, { exchange: modern() });
    expect(body).toMatchObject({ resultType: 'input_required', inputRequests: { q1: { params: { message: '[in] asks: "[far] asks: \\"Sure?\\""' } } } });
    const answer = { action: 'accept', content: { sure: true } };
    const back = modern({ requestState: body.requestState as string, inputResponses: { q1: answer } });
    expect(jsonOf(await outer.call('in_far_ask', ELICITATION, { exchange: back }))).toEqual([answer]);
  }
});

test('data nested too deeply to pass on is refused, from either side', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('asks') }]);
  await app.event('upstream.started', 'far');
  let deep: Json = {};
  for (let level = 0; level < 2_000; level++) deep = { inner: deep };
  for (let call = 0; call < 3; call++) expect((await app.call('far_odd', { deep })).reply).toMatchObject({ code: 'INVALID_INPUT' });
  expect((await app.call('far_deep', {})).reply).toMatchObject({ code: 'UPSTREAM_INVALID', message: expect.stringContaining('nested deeper') });
  expect((await app.server('far')).state).toBe('up');
});

test("a newer server receives this caller's capabilities", async () => {
  const app = await fixture('modern');
  expect((await app.call('test_missing_capability', {}, { exchange: exchangeOf() })).relayed).toMatchObject({ error: { code: -32021 } });
  expect(textOf(await app.call('test_missing_capability', {}, { exchange: exchangeOf({ capabilities: { sampling: {} } }) }))).toBe('The client can sample.');
});

test.each(['legacy', 'modern'] as const)('a %s server that reports a changed list is listed again', async (eras) => {
  const app = await fixture(eras);
  const changed = new Promise<void>((resolve) => app.app.upstreams.onChange(({ kind }) => kind === 'tools' && resolve()));
  expect(app.app.upstreams.in(DEFAULT_WORKSPACE_ID).tools.tool('test_comes_and_goes')).toBeDefined();
  await app.call('test_trigger_tool_change', {});
  await changed;
  expect(app.app.upstreams.in(DEFAULT_WORKSPACE_ID).tools.tool('test_comes_and_goes')).toBeUndefined();
  expect(app.app.upstreams.in(DEFAULT_WORKSPACE_ID).tools.withheld('test_comes_and_goes')).toMatchObject({ code: 'TOOL_WITHHELD' });
});

test('a server that reports changes constantly is listed again each time', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('changes-description', { CHILD_RESTLESS: '1' }) }]);
  await app.event('upstream.changed', 'far', 3);
});

test('calls to a server that floods, or answers twice, still succeed', async () => {
  const app = await upstreamApp([
    { name: 'floods', ...child('floods', { CHILD_FLOOD: 'json' }) },
    { name: 'twice', ...child('answers-twice') },
  ]);
  await Promise.all([app.event('upstream.started', 'floods'), app.event('upstream.started', 'twice')]);
  expect(textOf(await app.call('floods_echo', { text: 'through' }))).toBe('through');
  for (const text of ['one', 'two']) expect(textOf(await app.call('twice_echo', { text }))).toBe(text);
});
