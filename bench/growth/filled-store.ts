import { ensureDeveloper, issueToken } from '../../src/features/core/identity/index.ts';
import type { Principal } from '../../src/kernel/call.ts';
import { DEFAULT_WORKSPACE_ID } from '../../src/kernel/ids.ts';
import type { App } from '../../src/main.ts';
import { openApp, type Place } from '../app.ts';
import { INSTANCE_EVERY, instanceId, openOf } from './history.ts';

type Fields = Record<string, unknown>;

/** A filled store, with callers and with ids that operations can ask about. */
export interface FilledStore {
  readonly place: Place;
  readonly size: number;
  readonly app: App;
  /** Makes a call as an agent whose developer owns a twentieth of the data. */
  tool(name: string, args: Fields): Promise<Fields>;
  /** Makes a call as the operator. */
  action(name: string, args: Fields): Promise<Fields>;
  /** Makes a call in the same way as a hook of the agent's program. */
  hook(event: string, more?: Fields): Promise<Fields>;
  readonly session: string;
  readonly registered: string;
  readonly workflow: string;
  readonly known: { readonly task: string; readonly actor: string; readonly instance: string; readonly workstream: string };
}

const STEPS = 400;
const AGENT_TYPE = 'claude-code';

export async function openFilledStore(place: Place, size: number): Promise<FilledStore> {
  const app = await openApp(place);
  const signIn = async (token: Omit<Parameters<typeof issueToken>[1], 'by' | 'developerId'>): Promise<Principal> => {
    const { value } = await app.store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
      const { id } = await ensureDeveloper(tx, 'developer-0', 'operator');
      return await issueToken(tx, { ...token, developerId: token.kind === 'operator' ? null : id, by: 'operator' });
    });
    const authenticated = await app.authenticate(value, 'bearer');
    if (!('principal' in authenticated)) throw new Error('the new token is refused');
    return authenticated.principal;
  };
  const agent = await signIn({ kind: 'agent', agentType: AGENT_TYPE, expiresAt: null });
  const operator = await signIn({ kind: 'operator', expiresAt: null });
  const answered = (name: string, { reply }: Awaited<ReturnType<App['dispatch']['tool']>>): Fields => {
    if (reply.status !== 'ok' && reply.status !== 'warning') throw new Error(`${name}: ${reply.message}`);
    return reply.data as Fields;
  };
  const as = (principal: Principal, kind: 'tool' | 'action') => async (name: string, args: Fields) =>
    answered(name, await app.dispatch[kind]({ name, args, principal, surface: kind === 'action' ? 'dashboard' : 'api' }));
  const tool = as(agent, 'tool');
  const action = as(operator, 'action');
  const hook = (event: string, more: Fields = {}) =>
    as(agent, 'action')('hooks.hear', { client: 'claude-code', client_session: 'growth', event, repo: 'github.com/acme/app', folder: '/srv/app', ...more });

  const { session_id: session } = await hook('session-start', { source: 'startup' });
  const { id: registered } = await tool('agent_register', { name: 'growth', runtime: 'claude_code' });
  return {
    place,
    size,
    app,
    tool,
    action,
    hook,
    session: String(session),
    registered: String(registered),
    workflow: await workflow(tool),
    known: await known(app, size),
  };
}

/** Creates a workflow that is in progress, and returns its id. */
async function workflow(tool: FilledStore['tool']): Promise<string> {
  const { id } = await tool('workflow_create', {
    name: 'Under way',
    source_type: 'prompt',
    source_content: 'Move every parser to the new grammar.',
    repository_path: '/srv/app',
    max_parallel_tasks: STEPS,
  });
  const tasks = Array.from({ length: STEPS }, (_, at) => ({
    name: `step ${at}`,
    description: 'Move the parser of this module to the new grammar and keep its tests green.',
    sequence: Math.floor(at / 200),
  }));
  await tool('workflow_set_plan', { id, plan: { summary: 'Parsers', approach: 'One after another', tasks } });
  return String(id);
}

/** Returns ids of items from the middle of the history. The newest items would be faster to find than typical ones. */
async function known({ store }: App, size: number): Promise<FilledStore['known']> {
  const middle = Math.floor(size / 2 / 8) * 8;
  const event = await store.reader
    .selectFrom('events')
    .select(['subject', 'actor'])
    .where('workspace_id', '=', DEFAULT_WORKSPACE_ID)
    .where('kind', '=', 'task.started')
    .where('seq', '>', middle)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirstOrThrow();
  const { workstream_id } = await store.reader
    .selectFrom('tasks')
    .select('workstream_id')
    .where('workspace_id', '=', DEFAULT_WORKSPACE_ID)
    .where('id', '=', event.subject as string)
    .executeTakeFirstOrThrow();
  const closed = size - openOf(size);
  return {
    task: event.subject as string,
    actor: event.actor,
    instance: instanceId(Math.floor(closed / 2 / INSTANCE_EVERY) * INSTANCE_EVERY),
    workstream: workstream_id as string,
  };
}
