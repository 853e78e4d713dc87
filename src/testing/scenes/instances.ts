import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import type { InstanceRow } from '../../features/review/instances/index.ts';
import { type TestApp, type TestAppOptions, type TestCaller, testApp } from '../app.ts';
import { SLEEPER } from '../config.ts';
import { until } from '../until.ts';
import { type TestRepository, temporaryRepository } from './repository.ts';
import { type PretendedHost, pretendedHost } from './sessions.ts';
import type { Body } from './workflow.ts';

export const HOUR = 3_600_000;

export interface InstanceApp extends TestApp {
  readonly repository: TestRepository;
  readonly host: PretendedHost;
  /** Starts a coding agent that makes one commit, and returns its row. */
  coding(start?: object): Promise<InstanceRow>;
  /** Returns a caller that uses the token of the instance's process. */
  as(id: string): Promise<TestCaller>;
  ok(tool: string, args: object, id: string): Promise<Body>;
  refused(tool: string, args: object, id: string): Promise<Body>;
  /** Requests a review, and returns its row. */
  review(id: string, args?: object): Promise<InstanceRow>;
  instance(id: string): Promise<InstanceRow>;
  relationships(parent: string): Promise<Body[]>;
  /** Returns the messages in the instance's inbox, oldest first. */
  messages(id: string): Promise<Body[]>;
  /** Advances the clock and runs everything that is due by then. */
  later(ms: number): Promise<void>;
}

export interface InstanceAppOptions extends TestAppOptions {
  readonly repository?: TestRepository;
  readonly host?: PretendedHost;
}

/** The whole product with simulated agent sessions. Git, worktrees, the store and tokens are real. */
export async function instanceApp(options: InstanceAppOptions = {}): Promise<InstanceApp> {
  const host = options.host ?? pretendedHost();
  const repository = options.repository ?? temporaryRepository();
  const t = await testApp({ agentHost: host, launchers: { tiny: { ...SLEEPER, args: ['86400', '{{prompt}}'], prompt: 'argument' } }, ...options });
  t.app.servesAt('http://127.0.0.1:9');
  const reader = t.app.store.reader;
  const instance: InstanceApp['instance'] = (id) => reader.selectFrom('instances').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const as: InstanceApp['as'] = async (id) => {
    const token = host.started.findLast(({ name }) => name === id)?.env.COVIBE_MCP_TOKEN ?? '';
    const authenticated = await t.app.authenticate(token, 'bearer');
    if (!('principal' in authenticated)) throw new Error(`the token of ${id} is refused: ${authenticated.rejected}`);
    return { token, tokenId: authenticated.principal.tokenId, principal: authenticated.principal };
  };
  const call = async (tool: string, args: object, id: string, isError: boolean): Promise<Body> => {
    const answer = await t.tool(tool, args, await as(id));
    expect(answer.isError, `${tool} by ${id} answered ${JSON.stringify(answer.body)}`).toBe(isError);
    return answer.body;
  };
  const ok: InstanceApp['ok'] = (tool, args, id) => call(tool, args, id, false);
  return {
    ...t,
    repository,
    host,
    instance,
    as,
    ok,
    refused: (tool, args, id) => call(tool, args, id, true),
    async coding(start = {}) {
      const { id } = (await t.done('instances.start', { repository_path: repository.path, type: 'coding', issue: 7, agent: 'tiny', ...start })) as Body;
      const row = await instance(id);
      if (existsSync(row.worktree_path)) repository.commit(`${id}.txt`, 'work\n', row.worktree_path);
      return row;
    },
    async review(id, args = {}) {
      return await instance((await ok('request_review', args, id)).review_instance_id);
    },
    relationships: (parent) =>
      reader.selectFrom('instance_relationships').selectAll().where('parent_instance', '=', parent).orderBy('review_iteration').execute(),
    async messages(id) {
      const { agent_id } = await instance(id);
      const rows = await reader.selectFrom('messages').selectAll().where('recipient_id', '=', agent_id).orderBy('id').execute();
      return rows.map((row) => ({ ...row, body: JSON.parse(row.body) }));
    },
    async later(ms) {
      t.clock.advance(ms);
      await until(async () => {
        for (const table of ['instances', 'review_feedback'] as const) {
          const rows = await reader.selectFrom(table).select(['id', 'step', 'step_until', 'step_by']).where('step', 'is not', null).execute();
          // Steps that are deferred to the sweep are not due yet.
          const due = rows.filter(({ step_until, step_by }) => step_by !== null || (step_until ?? 0) <= t.clock.now());
          // If a sweep was busy when the clock advanced, it runs only when the clock advances again.
          if (due.length > 0) t.clock.advance(0);
          expect(due).toEqual([]);
        }
        const untold = await reader.selectFrom('instances').select('id').where('news', 'is not', null).where('ended_at', 'is', null).execute();
        if (untold.some(({ id }) => host.running.get(id)?.state === 'running')) {
          t.clock.advance(0);
          expect.fail(`${untold[0]?.id} has not received its news`);
        }
      });
    },
  };
}
