import type { ClientName } from '../../../clients/client.ts';
import { closeCredentials, storeTokens, tokensFrom } from '../../../wire/credentials.ts';
import { CliError } from '../../cli/command.ts';
import { counted } from '../../cli/output.ts';
import { type TokenState, tokenState, unreachable } from '../server.ts';
import { askForTokens, type DeviceCode } from './device-flow.ts';

/** How the agents of a repository authenticate. */
export interface Identity {
  readonly by: 'environment' | 'credentials';
  /** The developer who approved the request for tokens, if there was one. */
  readonly approved_by?: string;
  /** The agents for which new tokens were stored. */
  readonly stored: readonly ClientName[];
}

/**
 * Throws unless the server accepts the token from the environment. Setup calls this before it changes
 * anything. Returns whether the token's workspace blocks edits while the server is unreachable.
 */
export async function requireAccepted(origin: string, token: string): Promise<{ failClosed: boolean }> {
  const said = await tokenState(origin, token);
  if (said.state === 'unreachable') throw unreachable(origin, said.reason);
  if (said.state === 'accepted') return { failClosed: said.failClosed ?? false };
  throw new CliError(
    'TOKEN_REFUSED',
    `${origin} does not accept COVIBE_MCP_TOKEN. Nothing was changed.`,
    'Set it to a valid token, or unset it so that setup requests tokens; then run setup again.',
  );
}

interface ClientToken {
  readonly client: ClientName;
  /** Undefined if no token is stored for the client. */
  readonly state: TokenState | undefined;
}

/** Asks the server for the state of each agent's stored token. */
export async function askAboutTokens(env: NodeJS.ProcessEnv, origin: string, clients: readonly ClientName[]): Promise<ClientToken[]> {
  const tokens = tokensFrom(env, origin);
  return await Promise.all(
    clients.map(async (client) => {
      const token = tokens[client];
      return { client, state: token === undefined ? undefined : await tokenState(origin, token) };
    }),
  );
}

/** Requests tokens for agents whose token is missing or rejected. Stores the tokens immediately, before another step can fail. */
export async function identityFromTokens(
  env: NodeJS.ProcessEnv,
  origin: string,
  clients: readonly ClientName[],
  show: (code: DeviceCode) => void,
): Promise<Identity> {
  const known = await askAboutTokens(env, origin, clients);
  for (const { state } of known) if (state?.state === 'unreachable') throw unreachable(origin, state.reason);
  const agents = known.filter(({ state }) => state?.state !== 'accepted').map(({ client }) => client);
  closeCredentials(env);
  if (agents.length === 0) return { by: 'credentials', stored: [] };
  const { developer, tokens } = await askForTokens({ origin, agents, show });
  const stored = agents.filter((agent) => agent in tokens);
  if (stored.length > 0) storeTokens(env, origin, tokens);
  if (stored.length < agents.length) throw notArrived(agents, stored);
  return { by: 'credentials', approved_by: developer, stored };
}

const notArrived = (agents: readonly ClientName[], stored: readonly ClientName[]): CliError =>
  new CliError(
    'TOKENS_MISSING',
    `No token arrived for ${agents.filter((agent) => !stored.includes(agent)).join(', ')}. ${
      stored.length > 0 ? `${counted(stored.length, 'token')} stored (${stored.join(', ')}); nothing else` : 'Nothing'
    } was changed.`,
    'Run `covibe-local setup` again. It requests the missing tokens.',
  );
