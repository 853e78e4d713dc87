import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { tokensIn } from '../../../wire/credentials.ts';
import { CliError } from '../../cli/command.ts';
import { ask, notCovenant, type ServerAnswer, unreachable } from '../server.ts';

/** The code that a person enters to approve this machine. */
export interface DeviceCode {
  readonly code: string;
  readonly uri: string;
}

interface DeliveredTokens {
  readonly developer: string;
  /** The tokens that have arrived, with the name of each agent as the key. The server delivers them only once. */
  readonly tokens: Readonly<Record<string, string>>;
}

interface DeviceRequest {
  readonly origin: string;
  readonly agents: readonly string[];
  /** Called once, as soon as there is a code to approve. */
  show(code: DeviceCode): void;
  readonly pause?: (ms: number) => Promise<unknown>;
}

const LONGEST_NAME = 100;
const SHORTEST_SECONDS = 1;
const LONGEST_SECONDS = 60;

/** The errors for requests that end without tokens. The key is the status that the server returned in the last poll. */
const ENDS: Readonly<Record<string, readonly [code: string, message: string, next: string]>> = {
  denied: ['DEVICE_DENIED', 'The request was rejected.', 'If that was a mistake, run `covibe-local setup` again and have the new code approved.'],
  expired: ['DEVICE_EXPIRED', 'The code expired before anyone approved it.', 'Run `covibe-local setup` again and approve the new code within ten minutes.'],
  consumed: [
    'DEVICE_CONSUMED',
    'The tokens for this code were delivered once, but did not arrive here.',
    'Revoke them (Devices on the dashboard, or `covenant devices revoke`), then run `covibe-local setup` again.',
  ],
};

/** Shows a code. After a person has approved the code, gets one token for each agent. Follows the device flow of RFC 8628. */
export async function askForTokens({ origin, agents, show, pause = sleep }: DeviceRequest): Promise<DeliveredTokens> {
  const request = await ask(origin, '/api/setup/device', { body: { machine_name: hostname().slice(0, LONGEST_NAME) || 'machine', agents } });
  const { device_code, user_code, verification_uri, expires_in, interval } = bodyOf(request, origin);
  if (typeof device_code !== 'string' || typeof user_code !== 'string' || typeof verification_uri !== 'string') throw notCovenant(origin);
  show({ code: user_code, uri: verification_uri });
  let seconds = between(interval);
  for (let left = Number(expires_in) || 600; left > 0; left -= seconds) {
    await pause(seconds * 1_000);
    const polled = await ask(origin, '/api/setup/device/poll', { body: { device_code } });
    // Polling continues, because the server may be restarting and the network may recover in time.
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

/** Returns the poll interval that the server asks for, limited to a range from 1 to 60 seconds. */
const between = (seconds: unknown): number => Math.min(Math.max(Number(seconds) || 5, SHORTEST_SECONDS), LONGEST_SECONDS);

function bodyOf(asked: ServerAnswer, origin: string): Record<string, unknown> {
  if ('unreachable' in asked) throw unreachable(origin, asked.unreachable);
  if (asked.status === 200) return asked.body;
  const { message, feedback, data } = asked.body as { message?: string; feedback?: { required_action?: string }; data?: { code?: string } };
  if (typeof message !== 'string') throw notCovenant(origin);
  throw new CliError(data?.code ?? 'REFUSED', message, feedback?.required_action ?? 'Run `covibe-local setup` again.');
}
