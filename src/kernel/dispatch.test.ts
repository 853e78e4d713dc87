import { expect, test, vi } from 'vitest';
import { OutcomeUnknown, StoreBusy, StoreClosed } from '../storage/errors.ts';
import { testApp } from '../testing/app.ts';
import { fixtureFeature } from '../testing/fixture.ts';
import { until } from '../testing/until.ts';

const fixture = { features: [fixtureFeature] };

test('every call writes one usage event with a digest and never its arguments, whatever the outcome [audit.journal.no-secrets] [audit.journal.one-log] [audit.journal.categories]', async () => {
  const { developer, done, events, tool } = await testApp(fixture);
  const ana = await developer('ana');
  const calls: [string, unknown][] = [
    ['covibe_fixture', { operation: 'look', what: 'my-secret-prompt' }],
    ['covibe_fixture', { operation: 'change', what: 'one' }],
    ['covibe_fixture', { operation: 'change', what: 'two', fail: 'refuse' }],
    ['covibe_fixture', { operation: 'change', what: 'three', fail: 'block' }],
    ['covibe_fixture', { operation: 'change', what: 'four', fail: 'crash' }],
    ['covibe_fixture', { operation: 'look', wat: 'my-secret-prompt' }],
    ['covibe_fixture', { operation: 'fly' }],
    ['covibe_fixture', 'no object'],
    ['echo', { text: 'my-secret-prompt' }],
    ['covibe_nope', {}],
    ['request_review', {}],
  ];
  await done('capabilities.grant', { action: 'toolset.review', token: ana.tokenId });
  for (const [name, args] of calls) await tool(name, args, ana);
  const usage = (await events({ category: 'usage' })).filter((event) => event.subject?.startsWith('tool:'));
  expect(usage.map((event) => [event.kind, event.payload.outcome, event.payload.code ?? null])).toEqual([
    ['covibe_fixture.look', 'ok', null],
    ['covibe_fixture.change', 'ok', null],
    ['covibe_fixture.change', 'error', 'FIXTURE_REFUSED'],
    ['covibe_fixture.change', 'blocked', 'FIXTURE_BLOCKED'],
    ['covibe_fixture.change', 'error', 'INTERNAL'],
    ['covibe_fixture.look', 'error', 'INVALID_INPUT'],
    ['covibe_fixture', 'error', 'INVALID_INPUT'],
    ['covibe_fixture', 'error', 'INVALID_INPUT'],
    ['echo', 'denied', 'CAPABILITY_DENIED'],
    ['covibe_nope', 'error', 'UNKNOWN_TOOL'],
    ['request_review', 'error', 'NOT_AN_INSTANCE'],
  ]);
  for (const event of usage) expect(event.payload.arguments_sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.stringify(await events())).not.toContain('my-secret-prompt');
  expect((await events({ category: 'feedback' })).map((event) => [event.kind, event.payload.type, event.payload.required_action])).toEqual([
    ['covibe_fixture.change', 'block', 'Confirm.'],
  ]);
  const categories = new Set((await events()).map((event) => event.category));
  expect([...categories].sort()).toEqual(['audit', 'feedback', 'usage', 'work']);
});

test('a failed call changes nothing but the events that record it; a blocked call keeps what it stored [storage.write.rollback] [storage.write.atomic]', async () => {
  const { app, developer, events, tool } = await testApp(fixture);
  const ana = await developer('ana');
  const stored = async () => (await app.store.reader.selectFrom('workspaces').select('id').execute()).map((row) => row.id);
  for (const fail of ['refuse', 'crash', 'block'] as const) await tool('covibe_fixture', { operation: 'change', what: fail, fail }, ana);
  expect((await stored()).filter((id) => !id.startsWith('ws_'))).toEqual(['block']);
  expect((await events({ kind: 'fixture.changed' })).map((event) => event.subject)).toEqual(['block']);
});

test('every reply that is not ok has a stable code, a message and a next action; a fault reveals nothing internal [transport.reply.code-and-action]', async () => {
  const { developer, logged, tool } = await testApp(fixture);
  const ana = await developer('ana');
  for (const fail of ['refuse', 'crash', 'block'] as const) {
    const { body, isError } = await tool('covibe_fixture', { operation: 'change', what: fail, fail }, ana);
    expect(body).toMatchObject({
      message: expect.stringMatching(/./),
      feedback: { required_action: expect.stringMatching(/./) },
      data: { code: expect.stringMatching(/^[A-Z_]+$/) },
    });
    expect(isError).toBe(fail !== 'block');
    expect(JSON.stringify(body)).not.toContain('secret inside');
  }
  const log = logged.join('');
  expect(log).toContain('secret inside');
  expect(log).not.toMatch(/cv_0123/);
});

test('unknown fields, wrong types, hostile text and unbounded nesting are refused, the error names the field, and nothing changes [transport.input.unknown-field]', async () => {
  const { app, developer, tool } = await testApp(fixture);
  const ana = await developer('ana');
  let deep: unknown = 'x';
  for (let i = 0; i < 5_000; i++) deep = [deep];
  const bad: [Record<string, unknown>, string][] = [
    [{ operation: 'change', what: 'a', wath: 'b' }, 'wath'],
    [{ operation: 'change', what: 'a', constructor: 'b' }, 'constructor'],
    [{ operation: 'change', what: 5 }, 'what'],
    [{ operation: 'change' }, 'what'],
    [{ operation: 'change', what: 'a\0b' }, 'what'],
    [{ operation: 'change', what: '\ud800' }, 'what'],
    [{ operation: 'change', what: deep }, 'what[0]'],
    [{ operation: 'chnage', what: 'a' }, 'operation'],
    [{ operation: 'change', what: 'a', fail: 'other' }, 'fail'],
    [JSON.parse('{"operation":"change","what":"a","__proto__":{"x":1}}'), '__proto__'],
  ];
  for (const [args, field] of bad) {
    const { reply } = await tool('covibe_fixture', args, ana);
    expect(reply).toMatchObject({ status: 'error', code: 'INVALID_INPUT' });
    const { data } = reply as { data: { field: string } };
    expect(data.field.startsWith(field)).toBe(true);
  }
  expect(await app.store.reader.selectFrom('workspaces').select('id').where('id', 'not like', 'ws_%').execute()).toEqual([]);
});

test('a refusal of a thousand wrong fields names only a few and stays short', async () => {
  const { developer, tool } = await testApp(fixture);
  const ana = await developer('ana');
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`${'x'.repeat(500)}${i}`, i]));
  const { body } = await tool('covibe_fixture', { operation: 'look', ...many }, ana);
  expect(body).toMatchObject({ data: { code: 'INVALID_INPUT', field: expect.stringMatching(/^x{60}…$/) } });
  expect(JSON.stringify(body).length).toBeLessThan(4_000);
});

test('a call that exceeds the tool timeout is answered with an error [config.env.tool-timeout]', async () => {
  const { developer, tool } = await testApp({ ...fixture, toolTimeoutMs: 50 });
  const ana = await developer('ana');
  expect((await tool('covibe_fixture', { operation: 'hang' }, ana)).reply).toMatchObject({ status: 'error', code: 'TOOL_TIMEOUT' });
});

test("effects outside the store are recorded even after the call's deadline", async () => {
  const { developer, events, tool } = await testApp({ ...fixture, toolTimeoutMs: 50 });
  const ana = await developer('ana');
  expect((await tool('covibe_fixture', { operation: 'effect' }, ana)).reply).toMatchObject({ code: 'TOOL_TIMEOUT' });
  await until(async () => expect(await events({ kind: 'fixture.settled' })).toHaveLength(1));
});

test('a server that stops answers its calls in progress with SHUTTING_DOWN', async () => {
  const { app, developer, tool } = await testApp(fixture);
  const ana = await developer('ana');
  const hanging = tool('covibe_fixture', { operation: 'hang' }, ana);
  await until(async () => {
    app.dispatch.shutDown();
    expect((await Promise.race([hanging, new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))]))?.reply).toMatchObject({
      code: 'SHUTTING_DOWN',
    });
  });
  await Promise.all([app.dispatch.idle(), app.dispatch.idle()]);
});

test('a call that loses the database is still answered in the documented shape', async () => {
  const { app, developer, tool } = await testApp(fixture);
  const ana = await developer('ana');
  await app.store.close();
  for (const name of ['echo', 'covibe_fixture']) {
    const { body, isError } = await tool(name, { operation: 'look' }, ana);
    expect(isError).toBe(true);
    expect(body).toMatchObject({ status: 'error', data: { code: expect.stringMatching(/^(INTERNAL|SHUTTING_DOWN)$/) } });
  }
});

test('a call with several writes stores its capability check with the first write', async () => {
  const { developer, events, tool } = await testApp(fixture);
  const ana = await developer('ana');
  const before = (await events()).length;
  await tool('covibe_fixture', { operation: 'twice' }, ana);
  expect((await events()).slice(before).map((event) => event.kind)).toEqual(['CapabilityCheck', 'fixture.intended', 'fixture.settled', 'covibe_fixture.twice']);
});

test('a refusal does not claim that nothing was written if part of the call was committed', async () => {
  const { app, developer, tool } = await testApp(fixture);
  const ana = await developer('ana');
  const busy = new StoreBusy('the database cannot be reached');
  const closed = new StoreClosed('the store is closed');
  for (const [operation, failure, told] of [
    ['look', busy, { code: 'STORE_BUSY', message: expect.stringContaining('nothing was written') }],
    ['twice', busy, { code: 'OUTCOME_UNKNOWN' }],
    ['look', closed, { code: 'SHUTTING_DOWN', message: expect.stringContaining('nothing was written') }],
    ['twice', closed, { code: 'SHUTTING_DOWN', message: 'The server is shutting down.', next: expect.stringContaining('check whether the change was made') }],
  ] as const) {
    vi.spyOn(app.store, 'append').mockRejectedValueOnce(failure);
    expect((await tool('covibe_fixture', { operation }, ana)).reply).toMatchObject(told);
  }
});

test('a call whose commit may have happened never claims that nothing was written, even if its refusal cannot be journaled', async () => {
  const { app, developer, tool } = await testApp(fixture);
  const ana = await developer('ana');
  vi.spyOn(app.store, 'write').mockRejectedValueOnce(new OutcomeUnknown('the database connection was lost during the commit'));
  vi.spyOn(app.store, 'append').mockRejectedValueOnce(new StoreBusy('the database cannot be reached'));
  expect((await tool('covibe_fixture', { operation: 'change', what: 'w' }, ana)).reply).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
});

test('a result that violates its contract is a fault', async () => {
  const { developer, tool } = await testApp(fixture);
  const ana = await developer('ana');
  expect((await tool('covibe_fixture', { operation: 'change', what: 'w', fail: 'wrong' }, ana)).reply).toMatchObject({ code: 'INTERNAL' });
});

test('dashboard reads pass the same checks as other calls but write no event; dashboard writes write one [transport.pipe.same-everywhere]', async () => {
  const { app, developer, events } = await testApp(fixture);
  const ana = await developer('ana');
  const web = { ...ana.principal, web: true };
  const before = (await events()).length;
  const read = await app.dispatch.action({ name: 'tokens.list', args: {}, principal: web, surface: 'dashboard' });
  expect(read.isError).toBe(false);
  expect((await events()).length).toBe(before);
  const refusedRead = await app.dispatch.action({ name: 'server.status', args: {}, principal: { ...web, operator: false }, surface: 'dashboard' });
  expect(refusedRead.isError).toBe(true);
  await app.dispatch.action({ name: 'tokens.create', args: {}, principal: web, surface: 'dashboard' });
  expect((await events()).slice(before).map((event) => event.kind)).toContain('tokens.create');
});

test('echo returns its text verbatim and refuses anything but one string [gateway.echo.verbatim] [gateway.echo.missing-text] [gateway.echo.non-string] [gateway.echo.extra-property] [gateway.result.shape]', async () => {
  const { done, operator, tool } = await testApp();
  await done('capabilities.grant', { action: 'tool.call.echo' });
  for (const text of ['hi', '', ' \n\t', '{"a":1}', 'ünï – 🙂', '<b>&amp;']) {
    expect((await tool('echo', { text }, operator)).body).toEqual({ content: [{ type: 'text', text }], structuredContent: { text }, isError: false });
  }
  for (const [args, field] of [
    [{}, 'text'],
    [{ text: 5 }, 'text'],
    [{ text: null }, 'text'],
    [{ text: 'a', more: 1 }, 'more'],
  ] as const) {
    const { body, isError } = await tool('echo', args, operator);
    expect(isError).toBe(true);
    expect(body).toMatchObject({
      isError: true,
      structuredContent: { code: 'INVALID_INPUT', field },
      content: [{ type: 'text', text: expect.stringContaining(field) }],
    });
  }
});

test('clock takes no arguments and returns the current time as structured content and JSON text [gateway.clock.shape] [gateway.clock.current-time]', async () => {
  const { clock, operator, tool } = await testApp();
  clock.advance(1_234);
  const { body } = await tool('clock', {}, operator);
  expect(body).toEqual({
    content: [{ type: 'text', text: JSON.stringify({ epoch_ms: clock.now() }) }],
    structuredContent: { epoch_ms: clock.now() },
    isError: false,
  });
  expect((await tool('clock', { zone: 'UTC' }, operator)).isError).toBe(true);
});
