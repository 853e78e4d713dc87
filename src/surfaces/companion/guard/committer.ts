import { configuredToken, tokensHere } from '../../../wire/credentials.ts';

/** Who commits: an agent, in a run that its program may name, or a person. */
export interface Committer {
  readonly agent: string | undefined;
  /** Asks as the developer: a person does, and an agent without a token of its own, which must not pass for one of the developer's other agents. */
  readonly asPerson: boolean;
  readonly client_session: string | undefined;
  readonly token: string | undefined;
}

/**
 * What clients leave in the environment of the commands that they run for their agents, with the variable that names the run.
 * Not what people have in theirs: CODEX_HOME, or CURSOR_TRACE_ID in a terminal of the editor.
 */
const MARKS: readonly { readonly agent: string; readonly set: readonly string[]; readonly run?: string }[] = [
  { agent: 'claude-code', set: ['CLAUDECODE'], run: 'CLAUDE_CODE_SESSION_ID' },
  { agent: 'codex', set: ['CODEX_SESSION_ID', 'CODEX_THREAD_ID', 'CODEX_SANDBOX'], run: 'CODEX_SESSION_ID' },
  { agent: 'gemini', set: ['GEMINI_CLI'] },
  { agent: 'cursor', set: ['CURSOR_AGENT'] },
  { agent: 'opencode', set: ['OPENCODE'] },
];

export function committerIn(env: NodeJS.ProcessEnv, origin: string): Committer {
  const mark = MARKS.find(({ set }) => set.some((name) => env[name]));
  const agent = env.COVIBE_AGENT || mark?.agent;
  const own = agent === undefined ? undefined : configuredToken(env, origin, agent);
  // For a developer any will do: whose it is says who that is.
  const token = own ?? tokensHere(env, origin)[0];
  const asPerson = agent === undefined || (own === undefined && token !== undefined);
  return { agent, asPerson, client_session: asPerson || mark?.run === undefined ? undefined : env[mark.run] || undefined, token };
}
