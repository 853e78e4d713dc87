import { environmentToken, tokensFrom } from '../credentials.ts';

/** Who commits: an agent, in a run that its program may name, or a person. */
export interface Committer {
  readonly agent: string | undefined;
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
  const stored = tokensFrom(env, origin);
  // Of a person's any will do: whose it is says which developer asks. An agent that asked with another's would be judged by that one's claims.
  const token = environmentToken(env) ?? (agent === undefined ? Object.values(stored)[0] : stored[agent]);
  return { agent, client_session: mark?.run === undefined ? undefined : env[mark.run] || undefined, token };
}
