import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientName } from '../../../clients/client.ts';
import { closeCredentials, storeTokens, tokensFrom, tokensIn } from '../../../wire/credentials.ts';
import { CliError } from '../../cli/command.ts';
import { counted } from '../../cli/output.ts';
import { ask, notCovenant, type ServerAnswer, type TokenState, tokenState, unreachable } from '../server.ts';

/** How the agents of a repository will say who they are. */
export interface Identity {
  readonly by: 'environment' | 'credentials';
  /** Who approved, where tokens were asked for. */
  readonly approved_by?: string;
  /** Whose tokens are new. */
  readonly stored: readonly ClientName[];
}

/** Before anything is changed: whether the workspace of the environment's token holds edits back while the server is away. */
export async function requireAccepted(origin: string, token: string): Promise<{ failClosed: boolean }> {
  const said = await tokenState(origin, token);
  if (said.state === 'unreachable') throw unreachable(origin, said.reason);
  if (said.state === 'accepted') return { failClosed: said.failClosed ?? false };
  throw new CliError(
    'TOKEN_REFUSED',
    `${origin} does not accept COVIBE_MCP_TOKEN. Nothing was changed.`,
    'Set it to a token that is valid, or unset it: setup then asks for tokens of its own.',
  );
}

interface ClientToken {
  readonly client: ClientName;
  /** Undefined: none is stored. */
  readonly state: TokenState | undefined;
}

/** What this server says of the token that is stored for each agent. */
export async function askAboutTokens(env: NodeJS.ProcessEnv, origin: string, clients: readonly ClientName[]): Promise<ClientToken[]> {
  const tokens = tokensFrom(env, origin);
  return await Promise.all(
    clients.map(async (client) => {
      const token = tokens[client];
      return { client, state: token === undefined ? undefined : await tokenState(origin, token) };
    }),
  );
}

/** Asks for what is missing or not accepted any more, and stores what arrives before anything else can go wrong. */
export async function identityFromTokens(
  env: NodeJS.ProcessEnv,
  origin: string,
  clients: readonly ClientName[],
  show: (code: Code) => void,
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
    `No token has arrived for ${agents.filter((agent) => !stored.includes(agent)).join(', ')}. ${
      stored.length > 0 ? `${counted(stored.length, 'token')} stored (${stored.join(', ')}); nothing else` : 'Nothing'
    } was changed.`,
    'Run setup again: it asks for what is missing.',
  );

/** What a person needs in order to approve this machine. */
export interface Code {
  readonly code: string;
  readonly uri: string;
}

interface Delivered {
  readonly developer: string;
  /** By agent, of those that were asked for: what has arrived. Given out this once. */
  readonly tokens: Readonly<Record<string, string>>;
}

interface DeviceRequest {
  readonly origin: string;
  readonly agents: readonly string[];
  /** Called once, when there is something to approve. */
  show(code: Code): void;
  readonly pause?: (ms: number) => Promise<unknown>;
}

const LONGEST_NAME = 100;
const SHORTEST_SECONDS = 1;
const LONGEST_SECONDS = 60;

/** How a request ends without tokens, by the status of the last poll. */
const ENDS: Readonly<Record<string, readonly [code: string, message: string, next: string]>> = {
  denied: ['DEVICE_DENIED', 'The request was refused.', 'If that was a mistake, run setup again and have the new code approved.'],
  expired: ['DEVICE_EXPIRED', 'Nobody approved the code in time.', 'Run setup again, and approve the new code within ten minutes.'],
  consumed: [
    'DEVICE_CONSUMED',
    'The tokens of this code were handed out, but did not arrive here.',
    'Revoke them (the page Devices of the dashboard, or covenant devices revoke), then run setup again.',
  ],
};

/** One typed token per agent, once a person has approved the code that is shown: the shape of RFC 8628. */
export async function askForTokens({ origin, agents, show, pause = sleep }: DeviceRequest): Promise<Delivered> {
  const request = await ask(origin, '/api/setup/device', { body: { machine_name: hostname().slice(0, LONGEST_NAME) || 'machine', agents } });
  const { device_code, user_code, verification_uri, expires_in, interval } = bodyOf(request, origin);
  if (typeof device_code !== 'string' || typeof user_code !== 'string' || typeof verification_uri !== 'string') throw notCovenant(origin);
  show({ code: user_code, uri: verification_uri });
  let seconds = between(interval);
  for (let left = Number(expires_in) || 600; left > 0; left -= seconds) {
    await pause(seconds * 1_000);
    const polled = await ask(origin, '/api/setup/device/poll', { body: { device_code } });
    // A server that starts anew or a network that comes back in time costs nothing but time.
    if ('unreachable' in polled || polled.status >= 500) continue;
    const { status, developer, tokens, interval: slower } = polled.body;
    if (status === 'approved') {
      const arrived = Object.entries(tokensIn(tokens)).filter(([agent]) => agents.includes(agent));
      return { developer: String(developer), tokens: Object.fromEntries(arrived) };
    }
    const end = ENDS[String(status)];
    if (end) throw new CliError(...end);
    if (status !== 'pending' && status !== 'slow_down') bodyOf({ ...polled, status: 400 }, origin);
    seconds = between(polled.headers.get('retry-after') ?? slower);
  }
  throw new CliError(...(ENDS.expired as [string, string, string]));
}

/** What a server asks for is kept within reason. */
const between = (seconds: unknown): number => Math.min(Math.max(Number(seconds) || 5, SHORTEST_SECONDS), LONGEST_SECONDS);

function bodyOf(asked: ServerAnswer, origin: string): Record<string, unknown> {
  if ('unreachable' in asked) throw unreachable(origin, asked.unreachable);
  if (asked.status === 200) return asked.body;
  const { message, feedback, data } = asked.body as { message?: string; feedback?: { required_action?: string }; data?: { code?: string } };
  if (typeof message !== 'string') throw notCovenant(origin);
  throw new CliError(data?.code ?? 'REFUSED', message, feedback?.required_action ?? 'Run setup again.');
}
