import { type TestApp, type TestAppOptions, type TestCaller, testApp } from '../app.ts';

/** The envelope of the team contract. Its data has no type, because tests check it. */
export interface TeamAnswer {
  status: 'ok' | 'warning' | 'blocked' | 'error';
  message: string;
  feedback: { type: string; required_action: string | null };
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on what it finds
  data: any;
}

export interface TeamApp extends TestApp {
  readonly ana: TestCaller;
  readonly ben: TestCaller;
  call(tool: string, operation: string | null, args: object, caller?: TestCaller): Promise<TeamAnswer>;
  task(operation: string, args: object, caller?: TestCaller): Promise<TeamAnswer>;
  workstream(operation: string, args: object, caller?: TestCaller): Promise<TeamAnswer>;
  team(operation: string, args?: object, caller?: TestCaller): Promise<TeamAnswer>;
  /** Starts a session of the caller, and returns its id. */
  session(caller?: TestCaller, args?: object): Promise<string>;
  /** Checks and starts a task, and returns its id. The check must pass. */
  started(words: { title: string; [field: string]: unknown }, caller?: TestCaller): Promise<string>;
  planned(words: { title: string; [field: string]: unknown }, caller?: TestCaller): Promise<string>;
}

/** Two descriptions of the same work in different words. */
export const THUMBNAILS = {
  title: 'Cache thumbnail images in the gallery',
  task_type: 'feature',
  scope: 'Keep generated thumbnails on disk so that the gallery loads faster',
};
export const SAME_THUMBNAILS = { title: 'Store gallery thumbnails on disk', task_type: 'feature', scope: 'Gallery thumbnail cache so images load faster' };

/** The whole product with two developers, Ana and Ben. By default, calls are made by Ana. */
export async function teamApp(options: TestAppOptions = {}): Promise<TeamApp> {
  const app = await testApp(options);
  const ana = await app.developer('ana');
  const ben = await app.developer('ben');
  const call: TeamApp['call'] = async (tool, operation, args, caller = ana) => {
    const answer = await app.tool(tool, operation === null ? args : { operation, ...args }, caller);
    return answer.body as unknown as TeamAnswer;
  };
  const task: TeamApp['task'] = (operation, args, caller) => call('covibe_task', operation, args, caller);
  const typed = (words: object) => ({ task_type: 'feature', ...words });
  return {
    ...app,
    ana,
    ben,
    call,
    task,
    workstream: (operation, args, caller) => call('covibe_workstream', operation, args, caller),
    team: (operation, args = {}, caller) => call('covibe_team', operation, args, caller),
    async session(caller, args = {}) {
      return (await call('covibe_session', 'start', args, caller)).data.session_id;
    },
    async started(words, caller) {
      const check = await task('check', typed(words), caller);
      const candidates = (check.data.candidates ?? []).map(({ id }: { id: string }) => ({ id, same_scope: false, reason: 'other work' }));
      const verdict = check.data.requires_verdict ? { check_id: check.data.check_id, scope_verdict: { verdict: 'distinct', candidates } } : {};
      const answer = await task('start', { ...typed(words), ...verdict }, caller);
      if (answer.status !== 'ok') throw new Error(`not started: ${answer.message}`);
      return answer.data.task_id;
    },
    async planned(words, caller) {
      const answer = await task('plan', typed(words), caller);
      if (!answer.data.task_id) throw new Error(`not planned: ${answer.message}`);
      return answer.data.task_id;
    },
  };
}
