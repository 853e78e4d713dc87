import { environmentToken, tokensFrom } from '../../../wire/credentials.ts';

/** The tokens with which this machine may speak to a server. */
export interface WatchTokens {
  /** The agent's own; undefined where it has none here. */
  of(agent: string | undefined): string | undefined;
  /** The token for the machine's own reports. */
  readonly machine: string | undefined;
}

/** `COVIBE_MCP_TOKEN` is everybody's; stored ones are each agent's own, and go to nobody but the server that gave them. */
export function tokensFor(env: NodeJS.ProcessEnv, origin: string): WatchTokens {
  const given = environmentToken(env);
  if (given) return { of: () => given, machine: given };
  const stored = tokensFrom(env, origin);
  const [first] = Object.keys(stored).sort();
  const machine = first === undefined ? undefined : stored[first];
  return { of: (agent) => (agent === undefined ? machine : stored[agent]), machine };
}

/** Problems that the watcher reports: it has no token, or the server refuses it. */
export const MISSING_TOKEN_PROBLEM = 'no token for this server: run covibe-local setup, or set COVIBE_MCP_TOKEN';
export const REFUSED_TOKEN_PROBLEM = 'the server does not accept the token: run covibe-local setup again';
