import { join } from 'node:path';
import type { Reply } from '../../kernel/reply.ts';
import { processExists } from '../../machine/process/group.ts';
import { homeFolder } from '../../wire/covenant-home.ts';
import { SURFACE_HEADER, WORKSPACE_HEADER } from '../../wire/headers.ts';
import { failureCode, httpRequest } from '../../wire/http-client.ts';
import { placeHeaders, reportedPlace } from '../place-headers.ts';
import { CliError } from './command.ts';
import { prepareHome, type RunFile, readCredentials, readRunFile } from './home.ts';

/** Makes calls as the operator. If a server of this home is running, it gets the calls over HTTP. Otherwise this process handles them in the same way. */
export interface Client {
  /** Undefined if no server is running. */
  readonly url: string | undefined;
  action(name: string, input?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Resolves with the result or the envelope of the tool, even if the tool refused the call. */
  tool(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function connectClient(env: NodeJS.ProcessEnv, workspace: string | undefined, cwd = process.cwd()): Promise<Client> {
  const run = await findServer(env);
  return run ? httpClient(run, cwd, readCredentials(homeFolder(env)), workspace) : await localClient(env, cwd, workspace);
}

/** Finds the running server of this home. A killed server leaves its run file behind, so the server must answer with the instance id in that file. */
export async function findServer(env: NodeJS.ProcessEnv): Promise<RunFile | undefined> {
  const run = readRunFile(homeFolder(env));
  if (!run) return undefined;
  try {
    const { text } = await httpRequest(`${run.url}/api/health`, { method: 'GET', signal: AbortSignal.timeout(3_000) });
    const health = JSON.parse(text) as { instance?: string };
    return health.instance === run.instance ? run : undefined;
  } catch {
    return undefined;
  }
}

/** Throws if a server of this home is running, even if that server is slow to answer. */
export async function refuseWhileServed(env: NodeJS.ProcessEnv, home: string, doing: string): Promise<void> {
  // Asks the server first. If the server runs in a container, its process id has no meaning on this machine.
  const run = (await findServer(env)) ?? processOf(home);
  if (run)
    throw new CliError(
      'SERVER_RUNNING',
      `A server of this home is running at ${run.url} (process ${run.pid}).`,
      `Stop it, ${doing}, then start it again. If process ${run.pid} is another program, remove ${join(home, 'server.json')}.`,
    );
}

/** Finds the server of this home by its process, so that a server that does not answer is found too. */
export function processOf(home: string): RunFile | undefined {
  const run = readRunFile(home);
  return run && processExists(run.pid) ? run : undefined;
}

function httpClient(run: RunFile, cwd: string, token: string | undefined, workspace: string | undefined): Client {
  const post = async (path: string, body: unknown) => {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      [SURFACE_HEADER]: 'cli',
      ...placeHeaders(cwd),
    };
    if (token) headers.authorization = `Bearer ${token}`;
    if (workspace) headers[WORKSPACE_HEADER] = workspace;
    const signal = AbortSignal.timeout(ANSWER_MINUTES * 60_000);
    const { status, text } = await httpRequest(`${run.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body), signal }).catch((error) => {
      throw signal.aborted ? unanswered(run.url) : lost(run.url, failureCode(error));
    });
    const answer = JSON.parse(text) as Record<string, unknown>;
    if (status === 401) {
      throw new CliError(
        'UNAUTHENTICATED',
        'The server does not accept the token in credentials.json.',
        'Stop the server, then run covenant up. It writes a new token.',
      );
    }
    return { ok: status >= 200 && status < 300, answer };
  };
  return {
    url: run.url,
    async action(name, input = {}) {
      const { ok, answer } = await post(`/api/actions/${name}`, input);
      if (ok) return answer;
      throw new CliError(String(answer.code), String(answer.message), String(answer.suggestion));
    },
    tool: async (tool, args) => (await post('/api/mcp', { tool, arguments: args })).answer,
    close: async () => {},
  };
}

/** The time limit for an answer. If a person has to approve the call, the answer can take longer than this limit. */
const ANSWER_MINUTES = 5;

function unanswered(url: string): CliError {
  const next =
    'Run `covenant approvals list`. If the call waits there, repeat it after the approval. Otherwise check whether the change was made before you repeat it.';
  return new CliError('SERVER_TIMEOUT', `The server at ${url} did not answer within ${ANSWER_MINUTES} minutes.`, next);
}

function lost(url: string, code: string | undefined): CliError {
  const because = code ? ` (${code})` : '';
  return new CliError('SERVER_UNREACHABLE', `The connection to the server at ${url} was lost before it answered${because}.`, 'covenant status');
}

async function localClient(env: NodeJS.ProcessEnv, cwd: string, workspace: string | undefined): Promise<Client> {
  // Loads the database, the features and the configuration only here, because a command needs them only if no server is running.
  const [{ createApp }, { ensureOperator }, { loadConfig }, { clockFrom }, { createLog }] = await Promise.all([
    import('../../main.ts'),
    import('./operator.ts'),
    import('../../config.ts'),
    import('../../kernel/clock.ts'),
    import('../../kernel/log.ts'),
  ]);
  const config = loadConfig(env);
  prepareHome(config.home);
  const app = await createApp({ config, clock: clockFrom(env), log: createLog('error'), sweep: false });
  try {
    const { principal } = await ensureOperator(app);
    const caller = { principal, surface: 'cli', workspace, ...reportedPlace(cwd) } as const;
    return {
      url: undefined,
      action: async (name, args = {}) => dataOf((await app.dispatch.action({ name, args, ...caller })).reply),
      tool: async (name, args) => (await app.dispatch.tool({ name, args, ...caller })).body,
      close: () => app.close(),
    };
  } catch (error) {
    await app.close();
    throw error;
  }
}

function dataOf(reply: Reply<unknown>): Record<string, unknown> {
  if (reply.status === 'ok' || reply.status === 'warning') return reply.data as Record<string, unknown>;
  throw new CliError(reply.code, reply.message, reply.next);
}
