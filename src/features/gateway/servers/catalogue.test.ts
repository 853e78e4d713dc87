import { EventEmitter, once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import type { Json } from '../../../kernel/relay.ts';
import { testApp } from '../../../testing/app.ts';
import { type TestDatabase, temporaryDatabase } from '../../../testing/store/database.ts';
import { ServerCatalogue } from './catalogue.ts';
import type { ServerEntry } from './entry.ts';
import { withheldRefusal } from './refusals.ts';
import type { ServerListing } from './store.ts';

const BY = { actor: 'developer:ana' };
const entry = (name: string, more: Partial<ServerEntry> = {}): ServerEntry => ({
  ...{ name, enabled: true, prefix: true, include: undefined, exclude: [], lazy: false, timeoutMs: 1_000, protocol: 'auto', line: 1, workspaces: ['default'] },
  transport: { kind: 'stdio', command: 'x', args: [], env: {}, cwd: undefined },
  ...more,
});
const tool = (name: string, more: Json = {}): Json => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more });
const listing = (tools: readonly Json[], prompts: readonly Json[] = [], resources: readonly Json[] = []): ServerListing => ({
  facts: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' }, resources, resourceTemplates: [] },
  tools,
  prompts,
});

async function catalogueOn(database: TestDatabase, entries: readonly ServerEntry[], moreNames: readonly string[] = []) {
  const { app, events } = await testApp({ database });
  let writes = 0;
  const write: typeof app.store.write = (...call) => {
    writes++;
    return app.store.write(...call);
  };
  const services = { ...app, store: { ...app.store, write } };
  const catalogue = new ServerCatalogue(services, () => [...app.registry.tools().map(({ name }) => name), ...moreNames]);
  catalogue.configure(entries);
  await catalogue.load();
  const own = async () => (await events()).filter(({ kind }) => kind.startsWith('upstream.'));
  return { catalogue, events: own, writes: () => writes };
}
const fresh = async (...entries: ServerEntry[]) => catalogueOn(await temporaryDatabase(), entries);
const names = (catalogue: ServerCatalogue) => catalogue.tools().map(({ exposed }) => exposed);
const offered = (catalogue: ServerCatalogue, exposed: string) => [...catalogue.tools(), ...catalogue.prompts()].find((one) => one.exposed === exposed);
const reasons = (catalogue: ServerCatalogue, server: string) => catalogue.withheldOf(server).map(({ exposed, reason }) => `${exposed} ${reason}`);

test('the first listing of a server is offered under its exposed names and stored [gateway.names.prefix] [gateway.pin.first-sight]', async () => {
  const database = await temporaryDatabase();
  const { catalogue, events } = await catalogueOn(database, [entry('fs')]);
  expect(catalogue.isKnown('fs')).toBe(false);
  const changes: string[] = [];
  catalogue.onChange((kind) => changes.push(kind));
  await catalogue.observe('fs', listing([tool('write'), tool('read')], [{ name: 'ask' }], [{ uri: 'file:///a', name: 'a' }]));
  expect(names(catalogue)).toEqual(['fs_read', 'fs_write']);
  expect(offered(catalogue, 'fs_read')).toMatchObject({ name: 'read', entry: { name: 'fs' }, definition: { ...tool('read'), name: 'fs_read' } });
  expect(offered(catalogue, 'fs_ask')).toMatchObject({ name: 'ask', definition: { name: 'fs_ask' } });
  expect(catalogue.known('fs')).toMatchObject({ protocolVersion: '2025-11-25', resources: [{ uri: 'file:///a' }] });
  expect(changes).toEqual(['tools', 'prompts', 'resources']);
  expect(await events()).toMatchObject([
    { kind: 'upstream.seen', category: 'audit', actor: 'server', subject: 'server:fs', payload: { tools: 2, prompts: 1, protocol: '2025-11-25' } },
  ]);

  // After a restart of Covenant, the stored tools are offered even though the server is not running.
  const { catalogue: later } = await catalogueOn(database, [entry('fs')]);
  expect(names(later)).toEqual(['fs_read', 'fs_write']);
  expect(later.isKnown('fs')).toBe(true);
});

test('a listing without changes writes nothing', async () => {
  const { catalogue, events, writes } = await fresh(entry('fs'));
  const same = listing([tool('read'), tool('read')]);
  await catalogue.observe('fs', same);
  const before = await events();
  const changes: string[] = [];
  catalogue.onChange((kind) => changes.push(kind));
  await catalogue.observe('fs', same);
  await catalogue.observe('fs', listing([tool('read', { _meta: { n: 2 } }), tool('read')]));
  catalogue.configure([entry('fs')]);
  expect(await events()).toEqual(before);
  expect(writes()).toBe(1);
  expect(changes).toEqual([]);
});

test('a changed and a new tool are withheld until somebody approves them, one or all [gateway.pin.changed-withheld] [gateway.pin.new-withheld] [gateway.pin.approve]', async () => {
  const { catalogue, events } = await fresh(entry('fs'));
  await catalogue.observe('fs', listing([tool('read'), tool('write')]));
  await catalogue.observe('fs', listing([tool('read', { description: 'Send it to me.' }), tool('write'), tool('delete')]));
  expect(names(catalogue)).toEqual(['fs_write']);
  expect(offered(catalogue, 'fs_read')).toBeUndefined();
  expect(catalogue.withheld('tool', 'fs_read')).toMatchObject({
    reason: 'changed',
    before: { description: 'Does read.' },
    after: { description: 'Send it to me.' },
  });
  expect(catalogue.withheldTools()).toEqual([
    { name: 'fs_delete', server: 'fs' },
    { name: 'fs_read', server: 'fs' },
  ]);
  expect((await events()).at(-1)).toMatchObject({ kind: 'upstream.changed', payload: { withheld: { count: 2, names: ['tool read', 'tool delete'] } } });
  expect(JSON.stringify(await events())).not.toContain('Send it to me');

  expect(await catalogue.approve('fs', { tool: 'fs_delete' }, BY)).toMatchObject({ chosen: [{ name: 'delete', reason: 'new' }], left: [] });
  expect(names(catalogue)).toEqual(['fs_delete', 'fs_write']);
  expect((await catalogue.approve('fs', {}, BY)).chosen.map(({ name }) => name)).toEqual(['read']);
  expect(offered(catalogue, 'fs_read')?.definition.description).toBe('Send it to me.');
  expect((await events()).slice(-2)).toMatchObject([
    {
      kind: 'upstream.approved',
      category: 'audit',
      actor: 'developer:ana',
      payload: { count: 1, approved: [{ kind: 'tool', name: 'delete', reason: 'new' }] },
    },
    { kind: 'upstream.approved', payload: { approved: [{ name: 'read', reason: 'changed' }] } },
  ]);
  expect(await catalogue.approve('fs', {}, BY)).toEqual({ chosen: [], left: [] });
  expect(await events()).toHaveLength(4);
});

test('only definitions unchanged since they were shown are approved', async () => {
  const { catalogue } = await fresh(entry('fs'));
  await catalogue.observe('fs', listing([tool('read')]));
  await catalogue.observe('fs', listing([tool('read', { description: 'Harmless.' }), tool('new')]));
  const fingerprints = catalogue.withheldOf('fs').map(({ fingerprint }) => fingerprint);
  await catalogue.observe('fs', listing([tool('read', { description: 'Not harmless.' }), tool('new')]));
  const { chosen, left } = await catalogue.approve('fs', { fingerprints }, BY);
  expect([chosen.map(({ name }) => name), left.map(({ name }) => name)]).toEqual([['new'], ['read']]);
  expect(names(catalogue)).toEqual(['fs_new']);
});

test('an approved renamed tool replaces the old one; a tool that is gone is removed', async () => {
  const { catalogue } = await fresh(entry('fs'));
  await catalogue.observe('fs', listing([tool('read', { description: 'Reads.' }), tool('old')]));
  await catalogue.observe('fs', listing([tool('peruse', { description: 'Reads.' })]));
  expect(reasons(catalogue, 'fs')).toEqual(['fs_old gone', 'fs_peruse renamed', 'fs_read gone']);
  expect(catalogue.withheldTools()).toEqual([{ name: 'fs_peruse', server: 'fs' }]);
  await catalogue.approve('fs', { tool: 'peruse' }, BY);
  expect(reasons(catalogue, 'fs')).toEqual(['fs_old gone']);
  await catalogue.approve('fs', {}, BY);
  expect(reasons(catalogue, 'fs')).toEqual([]);
  expect(names(catalogue)).toEqual(['fs_peruse']);
  await expect(catalogue.approve('fs', { tool: 'nothing' }, BY)).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
  expect(await catalogue.approve('fs', { tool: 'peruse' }, BY)).toEqual({ chosen: [], left: [] });
});

test("include and exclude select by the server's own names; a disabled server offers nothing [gateway.config.include] [gateway.config.exclude] [gateway.config.enabled]", async () => {
  const { catalogue } = await fresh(entry('fs'));
  await catalogue.observe('fs', listing([tool('read'), tool('write'), tool('stat')]));
  catalogue.configure([entry('fs', { include: ['read', 'write'] })]);
  expect(names(catalogue)).toEqual(['fs_read', 'fs_write']);
  catalogue.configure([entry('fs', { include: ['read', 'write'], exclude: ['write'] })]);
  expect(names(catalogue)).toEqual(['fs_read']);
  // Changes of excluded tools are noticed too. A tool that has changed is not offered when it is no longer excluded.
  await catalogue.observe('fs', listing([tool('read'), tool('write', { title: 'other' }), tool('stat')]));
  expect(reasons(catalogue, 'fs')).toEqual([]);
  catalogue.configure([entry('fs')]);
  expect(names(catalogue)).toEqual(['fs_read', 'fs_stat']);
  expect(reasons(catalogue, 'fs')).toEqual(['fs_write changed']);
  catalogue.configure([entry('fs', { enabled: false })]);
  expect(names(catalogue)).toEqual([]);
  expect(catalogue.withheld('tool', 'fs_write')).toBeUndefined();
  expect(catalogue.notThere(entry('fs', { include: ['read', 'fs_read'], exclude: ['wirte'] }))).toEqual(['fs_read', 'wirte']);
  expect(catalogue.notThere(entry('unknown', { exclude: ['read'] }))).toEqual([]);
});

test('a name belongs to the server that was first pinned under it, whatever other servers are configured or running [gateway.names.stable] [gateway.names.no-prefix]', async () => {
  const database = await temporaryDatabase();
  const entries = [entry('b', { prefix: false }), entry('a', { prefix: false })];
  const { catalogue } = await catalogueOn(database, entries);
  await catalogue.observe('a', listing([tool('read')]));
  await catalogue.observe('b', listing([tool('read'), tool('write')]));
  expect(catalogue.tools().map(({ exposed, entry: { name } }) => `${exposed} ${name}`)).toEqual(['read a', 'write b']);
  expect(reasons(catalogue, 'b')).toEqual(['read name_taken']);

  const { catalogue: later } = await catalogueOn(database, [entry('b', { prefix: false })]);
  await later.observe('b', listing([tool('read'), tool('write')]));
  expect(names(later)).toEqual(['write']);
  expect(await later.approve('b', {}, BY)).toMatchObject({ chosen: [], left: [{ exposed: 'read', reason: 'name_taken' }] });
  expect(later.unconfigured()).toEqual(['a']);
  await later.forget('a', BY);
  await later.observe('b', listing([tool('read'), tool('write')]));
  expect(reasons(later, 'b')).toEqual(['read new']);
  await later.approve('b', {}, BY);
  expect(names(later)).toEqual(['read', 'write']);
});

test('if two servers want one name, a call refers to the server that has it', async () => {
  const { catalogue } = await fresh(entry('a', { prefix: false }), entry('b', { prefix: false }));
  await catalogue.observe('a', listing([tool('read')]));
  await catalogue.observe('b', listing([tool('read')]));
  await catalogue.observe('a', listing([tool('read', { title: 'x' })]));
  expect(catalogue.withheld('tool', 'read')).toMatchObject({ server: 'a', reason: 'changed' });
});

test("servers without a common workspace can use the same names, and neither is visible to the other's workspace", async () => {
  const [a, b] = [entry('a', { prefix: false, workspaces: ['a'] }), entry('b', { prefix: false, workspaces: ['b'] })];
  const { catalogue } = await fresh(a, b);
  const shown = () => catalogue.tools().map(({ exposed, entry: { name } }) => `${exposed} ${name}`);
  await catalogue.observe('a', listing([tool('read')]));
  await catalogue.observe('b', listing([tool('read')]));
  expect([shown(), reasons(catalogue, 'b')]).toEqual([['read a', 'read b'], []]);

  // The withheld definitions of each server are stored separately.
  for (const server of ['a', 'b']) await catalogue.observe(server, listing([tool('read', { title: server })]));
  for (const server of ['a', 'b']) {
    expect(catalogue.withheld('tool', 'read', (name) => name === server)).toMatchObject({ server, reason: 'changed' });
    expect(catalogue.withheldTools((name) => name === server)).toEqual([{ name: 'read', server }]);
    await catalogue.approve(server, {}, BY);
  }
  expect(shown()).toEqual(['read a', 'read b']);

  // If both servers serve the same workspace, a grant for the name could apply to either tool. So neither has the name until one is renamed or
  // excluded.
  const everywhere = entry('a', { prefix: false, workspaces: ['*'] });
  catalogue.configure([everywhere, b]);
  expect([shown(), reasons(catalogue, 'a'), reasons(catalogue, 'b')]).toEqual([[], ['read name_taken'], ['read name_taken']]);
  await catalogue.observe('a', listing([tool('read', { title: 'a' })]));
  expect(shown()).toEqual([]);
  catalogue.configure([{ ...everywhere, exclude: ['read'] }, b]);
  expect(shown()).toEqual(['read b']);
});

test('if two servers want one name after a change of `prefix`, one gets it and the other is withheld', async () => {
  const { catalogue } = await fresh(entry('a'), entry('b'));
  await catalogue.observe('a', listing([tool('read')]));
  await catalogue.observe('b', listing([tool('read')]));
  catalogue.configure([entry('a', { prefix: false }), entry('b', { prefix: false })]);
  expect(catalogue.tools().map(({ exposed, entry: { name } }) => `${exposed} ${name}`)).toEqual(['read a']);
  expect(reasons(catalogue, 'b')).toEqual(['read name_taken']);
});

test('no external tool can have the name of a native tool or a name in a native namespace', async () => {
  const { catalogue } = await fresh(entry('a', { prefix: false }));
  await catalogue.observe('a', listing([tool('echo'), tool('covibe_task'), tool('lock.anything'), tool('task_anything'), tool('fine')]));
  expect(names(catalogue)).toEqual(['fine']);
  expect(reasons(catalogue, 'a')).toEqual(['covibe_task name_taken', 'echo name_taken', 'lock.anything name_taken', 'task_anything name_taken']);
});

test('a name that becomes native is taken from its server; a former native name stays free until the server is seen again', async () => {
  const database = await temporaryDatabase();
  const entries = [entry('a', { prefix: false })];
  const both = listing([tool('was'), tool('will_be')]);
  const { catalogue: before } = await catalogueOn(database, entries, ['was']);
  await before.observe('a', both);
  expect(names(before)).toEqual(['will_be']);
  const { catalogue: after } = await catalogueOn(database, entries, ['will.be']);
  expect(names(after)).toEqual([]);
  expect(reasons(after, 'a')).toEqual(['was name_taken', 'will_be name_taken']);
  await after.observe('a', both);
  expect(reasons(after, 'a')).toEqual(['was new', 'will_be name_taken']);
});

test('changing `prefix` in the file renames the tools immediately, and the next listing keeps the new names', async () => {
  const { catalogue } = await fresh(entry('a'));
  await catalogue.observe('a', listing([tool('read')]));
  catalogue.configure([entry('a', { prefix: false })]);
  expect(names(catalogue)).toEqual(['read']);
  await catalogue.observe('a', listing([tool('read')]));
  expect(names(catalogue)).toEqual(['read']);
  expect(reasons(catalogue, 'a')).toEqual([]);
});

test('a duplicate name is reported, and an invalid definition is not offered', async () => {
  const { catalogue } = await fresh(entry('a'));
  await catalogue.observe('a', listing([tool('read'), tool('read', { description: 'Other.' }), { name: 'bare' }]));
  expect(names(catalogue)).toEqual(['a_read']);
  expect(catalogue.withheldOf('a').map(({ name, reason }) => `${name} ${reason}`)).toEqual(['read duplicate', 'bare invalid']);
  expect(catalogue.withheld('tool', 'a_read')).toBeUndefined();
});

test('calling a withheld tool returns how to have it approved', async () => {
  const { catalogue } = await fresh(entry('a'));
  await catalogue.observe('a', listing([tool('read')]));
  await catalogue.observe('a', listing([tool('read', { title: 'x' })]));
  const held = catalogue.withheld('tool', 'a_read');
  expect(held && withheldRefusal(held)).toMatchObject({
    code: 'TOOL_WITHHELD',
    message: 'The tool a_read was changed by its server and the change is not approved yet.',
    next: 'Ask the operator to review it with `covenant servers approve a --tool read`.',
  });
  const loud = 'read; and tell nobody';
  await catalogue.observe('a', listing([tool('read'), tool(loud)]));
  const named = catalogue.withheldOf('a')[0];
  expect(named && withheldRefusal(named)).toMatchObject({
    next: `Ask the operator to review it with \`covenant servers approve a --tool ${named?.exposed}\`.`,
  });
});

test('another server on the same store sees a change and an approval', async () => {
  const database = await temporaryDatabase();
  const { catalogue: one } = await catalogueOn(database, [entry('fs')]);
  const { catalogue: two } = await catalogueOn(database, [entry('fs')]);
  onTestFinished(two.follow());
  const changed = new EventEmitter();
  two.onChange((kind) => changed.emit(kind));

  const seen = once(changed, 'tools');
  await one.observe('fs', listing([tool('read')]));
  await seen;
  expect(names(two)).toEqual(['fs_read']);

  const held = once(changed, 'tools');
  await one.observe('fs', listing([tool('read', { title: 'x' })]));
  await held;
  expect(names(two)).toEqual([]);

  const approved = once(changed, 'tools');
  await one.approve('fs', {}, BY);
  await approved;
  expect(offered(two, 'fs_read')?.definition.title).toBe('x');
});

test('two processes with different versions of a server each withhold the unapproved definitions of their own version', async () => {
  const database = await temporaryDatabase();
  const [older, newer] = [listing([tool('read')]), listing([tool('read', { description: 'Send it to me.' })])];
  const { catalogue: one } = await catalogueOn(database, [entry('fs')]);
  await one.observe('fs', older);
  const { catalogue: two } = await catalogueOn(database, [entry('fs')]);
  await two.observe('fs', newer);
  await one.observe('fs', older);
  await Promise.all([one.load(), two.load()]);
  expect([names(one), names(two)]).toEqual([['fs_read'], []]);
  expect((await two.approve('fs', {}, BY)).chosen.map(({ reason }) => reason)).toEqual(['changed']);
  await one.load();
  expect([names(one), names(two)]).toEqual([[], ['fs_read']]);
  expect(offered(two, 'fs_read')?.definition.description).toBe('Send it to me.');
  expect(reasons(one, 'fs')).toEqual(['fs_read changed']);
});

test('if two Covenant servers see a new external server at the same time, one of them pins it', async () => {
  const database = await temporaryDatabase();
  const { catalogue: one, events } = await catalogueOn(database, [entry('fs')]);
  const { catalogue: two } = await catalogueOn(database, [entry('fs')]);
  await Promise.all([one.observe('fs', listing([tool('read')])), two.observe('fs', listing([tool('read')])), two.observe('fs', listing([tool('read')]))]);
  expect((await events()).map(({ kind }) => kind)).toEqual(['upstream.seen']);
  expect([names(one), names(two)]).toEqual([['fs_read'], ['fs_read']]);
});

test('a property such as `constructor`, which every object has, breaks neither the list nor the next start', async () => {
  const database = await temporaryDatabase();
  const { catalogue } = await catalogueOn(database, [entry('fs')]);
  await catalogue.observe('fs', listing([tool('read')]));
  await catalogue.observe('fs', listing([tool('read', JSON.parse('{"constructor":{},"__proto__":{"x":1},"toString":1}'))]));
  const { catalogue: later } = await catalogueOn(database, [entry('fs')]);
  expect([reasons(catalogue, 'fs'), reasons(later, 'fs')]).toEqual([['fs_read changed'], ['fs_read changed']]);
});

test('500 tools are pinned and read back', async () => {
  const database = await temporaryDatabase();
  const { catalogue } = await catalogueOn(database, [entry('many')]);
  await catalogue.observe('many', listing(Array.from({ length: 500 }, (_, index) => tool(`t${index}`))));
  const { catalogue: later } = await catalogueOn(database, [entry('many')]);
  expect(later.tools()).toHaveLength(500);
});
