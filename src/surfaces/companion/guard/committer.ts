import { CLIENTS, type ClientName } from '../../../clients/index.ts';
import { configuredToken, tokensHere } from '../../../wire/credentials.ts';

/** Who commits: an agent, in a run that its program may name, or a person. */
export interface Committer {
  readonly agent: string | undefined;
  /** Asks as the developer: a person does, and an agent without a token of its own, which must not pass for one of the developer's other agents. */
  readonly asPerson: boolean;
  readonly client_session: string | undefined;
  readonly token: string | undefined;
}

/** The first of these that has left its mark: one program may run in the terminal of another. */
const MARKING: readonly ClientName[] = ['claude-code', 'codex', 'gemini', 'cursor', 'opencode'];

export function committerIn(env: NodeJS.ProcessEnv, origin: string): Committer {
  const client = MARKING.find((name) => CLIENTS[name].commandMarks.set.some((variable) => env[variable]));
  const run = client && CLIENTS[client].commandMarks.run;
  const agent = env.COVIBE_AGENT || client;
  const own = agent === undefined ? undefined : configuredToken(env, origin, agent);
  // For a developer any will do: whose it is says who that is.
  const token = own ?? tokensHere(env, origin)[0];
  const asPerson = agent === undefined || (own === undefined && token !== undefined);
  return { agent, asPerson, client_session: asPerson || run === undefined ? undefined : env[run] || undefined, token };
}
