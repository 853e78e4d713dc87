import { environmentToken, tokensFrom } from '../../../wire/credentials.ts';

/** The tokens with which this machine may speak to a server. */
export interface Tokens {
  /** The agent's own; undefined where it has none here. */
  of(agent: string | undefined): string | undefined;
  /** What the machine speaks of itself with. */
  readonly machine: string | undefined;
}

/** `COVIBE_MCP_TOKEN` is everybody's; stored ones are each agent's own, and go to nobody but the server that gave them. */
export function tokensFor(env: NodeJS.ProcessEnv, origin: string): Tokens {
  const given = environmentToken(env);
  if (given) return { of: () => given, machine: given };
  const stored = tokensFrom(env, origin);
  const [first] = Object.keys(stored).sort();
  const machine = first === undefined ? undefined : stored[first];
  return { of: (agent) => (agent === undefined ? machine : stored[agent]), machine };
}
