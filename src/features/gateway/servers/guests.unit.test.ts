import { expect, test } from 'vitest';
import { workspaceId } from '../../../kernel/ids.ts';
import { child, type TestEntry, upstreamApp } from '../../../testing/stand-ins/upstreams.ts';
import type { TestDatabase } from '../../../testing/store/database.ts';
import { type Guests, guestEntry } from './guests.ts';
import { createUpstreams } from './index.ts';

const STAGE = workspaceId('stage');

/** Two servers: one from the file, which the default workspace manages, and one that another workspace has attached. */
async function services(entries: readonly TestEntry[] = [], database?: TestDatabase) {
  const held: { guests?: Guests } = {};
  const app = await upstreamApp(entries, {
    ...(database ? { database } : {}),
    upstreams: async (services, options) => {
      const made = await createUpstreams(services, options);
      held.guests = made.guests;
      return made;
    },
  });
  const guests = held.guests as Guests;
  const attach = (name: string) => guests.attach(guestEntry(name, STAGE, child('changes-description'), 10_000));
  const detach = (name: string) => guests.detach(name, { actor: 'operator' });
  /** Signs in as the first developer of a workspace, who is an operator in that workspace. */
  const signedIn = async (name: string, workspace: string) => {
    const caller = await app.developer(name, undefined, workspace);
    return { ...caller, principal: { ...caller.principal, web: true, signedInAt: Number.MAX_SAFE_INTEGER, operator: true } };
  };
  return { ...app, attach, detach, signedIn };
}

test('operators of a workspace see and decide on the servers that it attached, and on no others', async () => {
  const t = await services([{ name: 'far', ...child('changes-description') }]);
  const ana = await t.signedIn('ana', STAGE);
  const ben = await t.signedIn('ben', workspaceId('other'));
  const mira = await t.signedIn('mira', t.operator.principal.workspace);
  t.attach('near');
  await t.event('upstream.seen', 'far');
  await t.event('upstream.seen', 'near');
  await t.done('capabilities.grant', { action: 'tool.call.near_change', developer: 'ana' }, ana);
  expect((await t.tool('near_change', {}, ana)).isError).toBe(false);
  await t.event('upstream.changed', 'near');

  const named = async (caller: typeof ana) => ((await t.done('servers.list', {}, caller)).items as { name: string }[]).map(({ name }) => name);
  expect(await named(ana)).toEqual(['near']);
  expect(await named(mira)).toEqual(['far']);
  expect(await t.done('servers.list', {}, ana)).toMatchObject({ problems: [], unconfigured: [] });
  expect((await t.action('servers.list', {}, ben)).reply).toMatchObject({ code: 'OPERATOR_REQUIRED' });

  // Operators also see only the pending decisions of their own workspace.
  const waiting = async (caller: typeof ana) => ((await t.done('waiting.list', {}, caller)).items as { id: string }[]).map(({ id }) => id);
  expect([await waiting(ana), await waiting(ben), await waiting(mira)]).toEqual([['server:near'], [], []]);

  const every = ['servers.list', 'servers.restart', 'servers.approve', 'servers.reject', 'servers.logs', 'servers.forget'];
  for (const action of every) {
    const refusal = (await t.action(action, { server: 'far' }, ana)).reply;
    expect(refusal, action).toMatchObject({ code: 'OPERATOR_REQUIRED' });
    // Operators of other workspaces cannot find out whether such a server exists.
    expect((await t.action(action, { server: 'nowhere' }, ana)).reply, action).toEqual(refusal);
    expect((await t.action(action, { server: 'near' }, ben)).reply, action).toEqual(refusal);
  }
  expect(await t.done('servers.approve', { server: 'near' }, ana)).toMatchObject({ approved: [{ exposed: 'near_echo' }] });
  expect(await t.done('servers.restart', { server: 'near' }, ana)).toMatchObject({ state: 'up' });
  expect(await t.done('servers.logs', { server: 'near', lines: 1 }, ana)).toMatchObject({ server: 'near' });
});

test('detaching a guest deletes its catalogue; a server of the file with its name keeps its approvals', async () => {
  const t = await services([{ name: 'far', ...child('changes-description') }]);
  await t.event('upstream.seen', 'far');
  t.attach('far');
  t.attach('near');
  await t.event('upstream.seen', 'near');
  await t.detach('far');
  await t.detach('near');
  expect((await t.events({ kind: 'upstream.forgotten' })).map(({ subject }) => subject)).toEqual(['server:near']);
  expect(await t.done('servers.list', {})).toMatchObject({ items: [{ name: 'far', tools: 2 }], unconfigured: [] });
});

test('the catalogue of a guest whose process was killed is deleted too', async () => {
  const first = await services();
  first.attach('near');
  await first.event('upstream.seen', 'near');
  await first.app.close();
  const t = await services([], first.database);
  expect(await t.done('servers.list', {})).toMatchObject({ unconfigured: ['near'] });
  await t.detach('near');
  expect(await t.done('servers.list', {})).toMatchObject({ unconfigured: [] });
});
