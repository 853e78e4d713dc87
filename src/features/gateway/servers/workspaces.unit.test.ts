import { expect, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID, workspaceId } from '../../../kernel/ids.ts';
import { child, EVERYTHING, npm, upstreamApp } from '../../../testing/stand-ins/upstreams.ts';

const SHOP = workspaceId('shop');
const everybody = () => true;
type Items = { items: { name?: string; server?: string; tools?: number }[]; total?: number };

/** Three servers: one serves the default workspace, one serves the default workspace and the workspace of a shop, and one serves all workspaces. */
async function services() {
  const app = await upstreamApp([
    { name: 'ours', ...npm(EVERYTHING, 'stdio') },
    { name: 'both', workspaces: ['default', 'shop'], ...child('changes-description') },
    { name: 'every', workspaces: ['*'], ...child('changes-description') },
  ]);
  for (const name of ['ours', 'both', 'every']) await app.event('upstream.seen', name);
  /** Signs in as the first developer of a workspace. This developer is the admin of the workspace. */
  const admin = async (name: string, workspace: string) => {
    const caller = await app.developer(name, undefined, workspace);
    return { ...caller, principal: { ...caller.principal, web: true, signedInAt: Number.MAX_SAFE_INTEGER, operator: true } };
  };
  return { ...app, shop: await admin('sol', SHOP), other: await admin('olga', workspaceId('other')), home: await admin('hana', DEFAULT_WORKSPACE_ID) };
}

test('outside the workspaces that it serves a server’s tools, prompts and resources look unknown in every list, grant, matrix and call [harden.workspaces.unknown-outside] [harden.workspaces.every] [gateway.start.merged]', async () => {
  const t = await services();
  const external = async (caller: typeof t.shop) => {
    const listed = (await t.done('tools.list', {}, caller)) as Items;
    return [...new Set(listed.items.map(({ server }) => server))].filter((server) => server !== 'native').sort();
  };
  expect([await external(t.home), await external(t.shop), await external(t.other)]).toEqual([['both', 'every', 'ours'], ['both', 'every'], ['every']]);

  for (const [caller, mine, theirs] of [
    [t.shop, 'both_echo', 'ours_echo'],
    [t.other, 'every_echo', 'both_echo'],
  ] as const) {
    const { workspace } = caller.principal;
    const text = async (action: string, args: object = {}) => JSON.stringify((await t.action(action, args, caller)).reply);
    const server = theirs.split('_')[0] as string;
    for (const action of ['tools.list', 'tools.page', 'tools.usage', 'capabilities.matrix', 'server.status']) {
      expect(await text(action), action).not.toMatch(new RegExp(`"${server}["_]`));
    }
    expect(((await t.done('capabilities.matrix', { server }, caller)) as Items).items).toEqual([]);
    const said = async (name: string) => (await text('tools.show', { name })).replaceAll(name, 'NAME');
    expect(await said(theirs)).toBe(await said('no_such'));
    const explained = async (name: string) => ((await t.done('capabilities.explain', { name }, caller)) as { tool: unknown }).tool;
    expect([await explained(mine), await explained(theirs)]).toEqual([expect.objectContaining({ server: mine.split('_')[0] }), null]);

    // The admin of the workspace may grant everything, but a grant has no effect if the server of the tool does not serve the workspace.
    const granted = async (name: string) => (await t.action('capabilities.grant', { action: `tool.call.${name}`, token: caller.tokenId }, caller)).reply;
    const told = async (name: string) => (await granted(name)).message?.replace(name, 'NAME');
    expect(await told(theirs)).toBe(await told('no_such'));
    expect(await told(theirs)).not.toBe(await told(mine));
    const called = async (name: string) => JSON.stringify((await t.tool(name, {}, caller)).body).replaceAll(name, 'NAME');
    const unlike = (body: string) => body.replace(/"request_id":"[^"]*"/, '');
    expect(unlike(await called(theirs))).toBe(unlike(await called('no_such')));
    expect(await called(theirs)).toContain('UNKNOWN_TOOL');
    expect((await t.tool(mine, {}, caller)).isError).toBe(false);

    const here = t.app.upstreams.in(workspace);
    expect([here.prompts(), here.resources(), here.resourceTemplates()]).toEqual([[], [], []]);
    expect(here.abilities()).toMatchObject({ prompts: false, resources: false });
    expect(here.holderOf('demo://resource/static/document/features.md', everybody)).toBeUndefined();
    expect(here.prompt('ours_simple-prompt')).toBeUndefined();
  }
  const home = t.app.upstreams.in(DEFAULT_WORKSPACE_ID);
  expect([home.prompts().length > 0, home.resources().length > 0, home.prompt('ours_simple-prompt')?.server]).toEqual([true, true, 'ours']);
});

test('servers of different workspaces can offer the same tool name, and each workspace calls its own server', async () => {
  const t = await upstreamApp([
    { name: 'ours', prefix: false, ...child('changes-description') },
    { name: 'theirs', prefix: false, workspaces: ['shop'], ...child('changes-description') },
  ]);
  for (const name of ['ours', 'theirs']) await t.event('upstream.seen', name);
  const served = (workspace: string) => {
    const { tools, withheldTools } = t.app.upstreams.in(workspace);
    return [
      tools.tool('change')?.server,
      tools.tools().every(({ server }) => server === tools.tool('change')?.server),
      tools.withheld('change'),
      withheldTools().map(({ server }) => server),
    ];
  };
  await t.until(() => t.app.upstreams.in(SHOP).tools.tool('change') !== undefined);
  expect(served(DEFAULT_WORKSPACE_ID)).toEqual(['ours', true, undefined, ['ours']]);
  expect(served(SHOP)).toEqual(['theirs', true, undefined, ['theirs']]);
});

test('withheld definitions are shown to the workspaces that their server serves, and a change of the setting notifies the workspaces concerned', async () => {
  const t = await services();
  const heard: string[] = [];
  t.app.upstreams.onChange((change) => {
    if (change.kind === 'tools') heard.push(...['default', 'shop', 'other'].filter((name) => change.reaches(workspaceId(name))));
  });
  await t.done('capabilities.grant', { action: 'tool.call.both_change', developer: 'sol' }, t.shop);
  await t.tool('both_change', {}, t.shop);
  await t.event('upstream.changed', 'both');
  await t.until(() => heard.length > 0);
  expect([...new Set(heard)].sort()).toEqual(['default', 'shop']);
  const withheld = (workspace: string) => t.app.upstreams.in(workspace).withheldTools();
  expect([withheld(SHOP).length > 0, withheld(workspaceId('other'))]).toEqual([true, []]);
  expect(t.app.upstreams.in(workspaceId('other')).tools.withheld('both_echo')).toBeUndefined();
  expect(t.app.upstreams.in(SHOP).tools.withheld('both_echo')).toMatchObject({ code: 'TOOL_WITHHELD' });

  heard.length = 0;
  t.configure({ name: 'every', workspaces: ['other'], ...child('changes-description') });
  await t.until(() => t.app.upstreams.in(SHOP).tools.tools().length === 0);
  expect([...new Set(heard)].sort()).toEqual(['default', 'other', 'shop']);
  expect(t.app.upstreams.in(workspaceId('other')).tools.tool('every_echo')).toBeDefined();
});
