export interface BridgeSettings {
  /** Scheme, host and port of the Covenant server. */
  readonly origin: string;
  readonly timeoutMs: number;
  /** Which tools the agent gets, such as `team+workflow`; none: those of its token. */
  readonly toolsets: string | undefined;
}

export class SettingRefused extends Error {
  readonly next: string;

  constructor(message: string, next: string) {
    super(message);
    this.next = next;
  }
}

const DEFAULT_ORIGIN = 'http://127.0.0.1:3001';
/** Longer than the server's own limit on a tool: its word on a slow call is better than ours. */
const DEFAULT_TIMEOUT_MS = 35_000;
/** Node's timers go no further. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export function readSettings(env: NodeJS.ProcessEnv): BridgeSettings {
  return {
    origin: originFrom(env.COVIBE_BASE_URL || DEFAULT_ORIGIN),
    timeoutMs: timeoutFrom(env.COVIBE_TIMEOUT_MS),
    toolsets: toolsetsFrom(env.COVIBE_TOOLSETS),
  };
}

/** The message never repeats the value: it may carry a password. */
function originFrom(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  // The href of a bare origin has nothing after it: no credentials, path, query or hash, not even an empty one.
  if (url && isHttp && url.href === `${url.origin}/`) return url.origin;
  const problem = url && isHttp ? 'has more than a scheme, a host and a port' : 'is not an http or https address';
  throw new SettingRefused(`COVIBE_BASE_URL ${problem}.`, `Set it to the origin of the Covenant server alone, such as ${DEFAULT_ORIGIN}.`);
}

function timeoutFrom(value: string | undefined): number {
  if (!value) return DEFAULT_TIMEOUT_MS;
  const ms = Number(value);
  if (Number.isInteger(ms) && ms >= 1 && ms <= MAX_TIMEOUT_MS) return ms;
  throw new SettingRefused('COVIBE_TIMEOUT_MS is not a number of milliseconds.', `Set it to a whole number from 1 to ${MAX_TIMEOUT_MS}, or leave it out.`);
}

function toolsetsFrom(value: string | undefined): string | undefined {
  if (!value) return undefined;
  if (/^[a-z]+(\+[a-z]+)*$/.test(value)) return value;
  throw new SettingRefused('COVIBE_TOOLSETS is not a list of toolsets.', 'Set it to toolsets joined by +, such as team+workflow, to all, or leave it out.');
}
