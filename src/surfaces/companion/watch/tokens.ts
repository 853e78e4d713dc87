import { environmentToken, tokensFrom } from '../../../wire/credentials.ts';

/** The tokens that this machine may use with a server. */
export interface WatchTokens {
  /** The agent's own token. Undefined if this machine has none. */
  of(agent: string | undefined): string | undefined;
  /** The token for the machine's own reports. */
  readonly machine: string | undefined;
}

/**
 * Returns the tokens for a server. The token in `COVIBE_MCP_TOKEN` is for all agents.
 * A stored token belongs to one agent, and is sent only to the server that issued it.
 */
export function tokensFor(env: NodeJS.ProcessEnv, origin: string): WatchTokens {
  const given = environmentToken(env);
  if (given) return { of: () => given, machine: given };
  const stored = tokensFrom(env, origin);
  const [first] = Object.keys(stored).sort();
  const machine = first === undefined ? undefined : stored[first];
  return { of: (agent) => (agent === undefined ? machine : stored[agent]), machine };
}

/** Problems that the watcher reports: it has no token, or the server rejects it. */
export const MISSING_TOKEN_PROBLEM = 'no token for this server: run covibe-local setup, or set COVIBE_MCP_TOKEN';
export const REFUSED_TOKEN_PROBLEM = 'the server rejects the token: run covibe-local setup again';
