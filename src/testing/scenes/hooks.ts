import type { ClientRunRow } from '../../storage/schema-rows.ts';
import type { HookAnswer, HookEvent, HookQuestion } from '../../wire/hook-question.ts';
import type { TestAppOptions, TestCaller } from '../app.ts';
import { type TeamApp, teamApp } from './team.ts';

export const MINUTE = 60_000;
export const REPO = 'github.com/acme/app';

export interface HooksApp extends TeamApp {
  /** Ana's Claude Code agent. */
  readonly claude: TestCaller;
  /** Ana's Codex agent. */
  readonly codex: TestCaller;
  /** Ben's Cursor agent. */
  readonly cursor: TestCaller;
  /** Calls a hook and returns its answer. By default, the run is `run-1`. */
  hear(event: HookEvent, question?: HookQuestion & { client?: string; hears?: boolean }, caller?: TestCaller): Promise<HookAnswer>;
  /** Makes an exclusive claim, and returns its id. */
  claimed(paths: readonly string[], caller: TestCaller, more?: object): Promise<string>;
  /** Starts the run, and returns its session. */
  begun(client_session: string, caller?: TestCaller, question?: HookQuestion): Promise<string>;
  run(client_session?: string): Promise<ClientRunRow | undefined>;
}

/** Sets up a team with agents whose programs call hooks. */
export async function hooksApp(options: TestAppOptions = {}): Promise<HooksApp> {
  const team = await teamApp(options);
  const claude = await team.developer('ana', 'claude-code');
  const codex = await team.developer('ana', 'codex');
  const cursor = await team.developer('ben', 'cursor');
  const hear: HooksApp['hear'] = async (event, question = {}, caller = claude) =>
    (await team.done('hooks.hear', { client: 'claude-code', client_session: 'run-1', event, ...question }, caller)) as unknown as HookAnswer;
  return {
    ...team,
    claude,
    codex,
    cursor,
    hear,
    async claimed(paths, caller, more = {}) {
      const answer = await team.call('covibe_coordination', 'claim', { repo: REPO, paths, ...more }, caller);
      if (answer.status !== 'ok') throw new Error(answer.message);
      return answer.data.claim_id;
    },
    async begun(client_session, caller = claude, question = {}) {
      const { session_id } = await hear('session-start', { client_session, repo: REPO, source: 'startup', ...question }, caller);
      if (session_id === null) throw new Error('no session');
      return session_id;
    },
    run: (client_session = 'run-1') =>
      team.app.store.reader.selectFrom('client_runs').selectAll().where('client_session', '=', client_session).executeTakeFirst(),
  };
}

export const edit = (...paths: string[]): Pick<HookQuestion, 'edits'> => ({ edits: paths.map((path) => ({ repo: REPO, path })) });
