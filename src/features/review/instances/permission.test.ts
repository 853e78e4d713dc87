import { expect, test } from 'vitest';
import { workspaceId } from '../../../kernel/ids.ts';
import type { TestCaller } from '../../../testing/app.ts';
import { instanceApp } from '../../../testing/scenes/instances.ts';

type Items = { items: { name: string; run_agents: boolean }[] };

test("only developers allowed by the server's operator can run agents, whatever their role in a workspace [harden.instances.server-permission]", async () => {
  const t = await instanceApp();
  const shop = workspaceId('shop');
  /** Signs the developer in again with a link from the operator, so that the session has the developer's current rights. */
  const signedIn = async (developer: string, workspace?: string): Promise<TestCaller> => {
    const link = { name: 'signin.link', args: { developer }, principal: t.operator.principal, surface: 'cli', workspace } as const;
    const { path } = (await t.app.dispatch.action(link)).reply.data as { path: string };
    const session = await t.app.signIn({ code: path.replace('/signin/', '') });
    const found = await t.app.authenticate(session.cookie, 'cookie', { secret: session.proof });
    if (!('principal' in found)) throw new Error(`${developer} is not let in`);
    return { token: session.cookie, tokenId: found.principal.tokenId, principal: found.principal };
  };
  await t.developer('ana', undefined, shop);
  await t.developer('ben');
  const [ana, ben] = [await signedIn('ana', 'shop'), await signedIn('ben')];
  const start = { repository_path: t.repository.path, type: 'coding', issue: 7, agent: 'tiny' };
  const code = async (name: string, args: object, caller: TestCaller) => {
    const { reply } = await t.action(name, args, caller);
    return reply.status === 'ok' ? 'ok' : reply.code;
  };
  const denied = 'MACHINE_PERMISSION_REQUIRED';
  for (const admin of [ana, ben]) {
    expect(admin.principal.operator).toBe(true);
    expect((await t.action('instances.start', start, admin)).reply).toMatchObject({
      code: denied,
      next: expect.stringContaining(
        admin === ana ? '`covenant developers allow ana --run-agents --workspace shop`' : '`covenant developers allow ben --run-agents`',
      ),
    });
    expect(await code('instances.message', { instance_id: 'work-7-a1', message: 'x' }, admin)).toBe(denied);
    // Nobody can give the permission to themselves or others.
    for (const developer of ['ana', 'ben']) expect(await code('developers.set_run_agents', { developer, allowed: true }, admin)).toBe('OPERATOR_REQUIRED');
  }
  expect(t.repository.worktrees()).toEqual([]);

  await t.done('developers.set_run_agents', { developer: 'ben', allowed: true });
  await t.done('developers.set_run_agents', { developer: 'ben', allowed: true });
  const again = await signedIn('ben');
  expect(await code('instances.start', start, again)).toBe('ok');
  expect(await code('instances.message', { instance_id: 'work-7-a1', message: 'x' }, again)).toBe('ok');
  expect(((await t.done('developers.list', {})) as Items).items).toMatchObject([{ name: 'ben', run_agents: true }]);
  expect(await t.done('identity.me', {}, again)).toMatchObject({ operator: true, run_agents: true });
  // Another admin of the workspace cannot get the permission by signing in as the developer who has it.
  const other = await t.developer('cleo');
  const admin = { ...other, principal: { ...other.principal, web: true, signedInAt: t.clock.now(), operator: true } };
  expect(await code('signin.link', { developer: 'ben' }, admin)).toBe(denied);
  expect(await code('signin.link', { developer: 'ben' }, again)).toBe('ok');

  // The permission applies only to this developer, only in this workspace, and only until it is withdrawn.
  expect(await code('instances.start', start, ana)).toBe(denied);
  await t.done('developers.set_run_agents', { developer: 'ben', allowed: false });
  expect(await code('instances.start', { ...start, issue: 8 }, await signedIn('ben'))).toBe(denied);
  const events = (await t.events({ category: 'audit' })).filter(({ kind }) => kind.startsWith('developer.run_agents'));
  expect(events).toMatchObject([
    { kind: 'developer.run_agents_allowed', actor: 'operator', subject: again.principal.developerId },
    { kind: 'developer.run_agents_withdrawn', actor: 'operator', subject: again.principal.developerId },
  ]);
});

test("no tool starts an instance for a developer's token, because only an instance can request a review [harden.instances.server-permission]", async () => {
  const t = await instanceApp();
  const ana = await t.developer('ana', 'codex');
  await t.done('capabilities.grant', { action: 'toolset.review', token: ana.tokenId });
  for (const tool of ['request_review', 'send_feedback', 'create_pull_request', 'create_issues']) {
    const { isError, reply } = await t.tool(tool, { message: 'x', feedback: 'x', feedback_type: 'approve', title: 'x', description: 'x', issues: [] }, ana);
    expect([tool, isError, reply.status]).toEqual([tool, true, expect.not.stringMatching('ok')]);
  }
  expect((await t.done('instances.list', {})).items).toEqual([]);
});
