import { CliError } from '../cli/command.ts';
import { DEFAULT_ORIGIN, originFrom } from '../origin.ts';

export interface BridgeSettings {
  /** Scheme, host and port of the Covenant server. */
  readonly origin: string;
  readonly timeoutMs: number;
  /** The toolsets of the agent, such as `team+workflow`. If undefined, the agent gets the default toolsets of its token. */
  readonly toolsets: string | undefined;
}

/** Longer than the server's own time limit for a tool call. If a call takes too long, the agent then gets the server's error, which has more details. */
const DEFAULT_TIMEOUT_MS = 35_000;
/** The longest time for which Node can set a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export function readSettings(env: NodeJS.ProcessEnv): BridgeSettings {
  return {
    origin: originFrom(env.COVIBE_BASE_URL || DEFAULT_ORIGIN, 'COVIBE_BASE_URL'),
    timeoutMs: timeoutFrom(env.COVIBE_TIMEOUT_MS),
    toolsets: toolsetsFrom(env.COVIBE_TOOLSETS),
  };
}

function timeoutFrom(value: string | undefined): number {
  if (!value) return DEFAULT_TIMEOUT_MS;
  const ms = Number(value);
  if (Number.isInteger(ms) && ms >= 1 && ms <= MAX_TIMEOUT_MS) return ms;
  throw new CliError('BAD_SETTING', 'COVIBE_TIMEOUT_MS is not a number of milliseconds.', `Set it to a whole number from 1 to ${MAX_TIMEOUT_MS}, or unset it.`);
}

function toolsetsFrom(value: string | undefined): string | undefined {
  if (!value) return undefined;
  if (/^[a-z]+(\+[a-z]+)*$/.test(value)) return value;
  throw new CliError(
    'BAD_SETTING',
    'COVIBE_TOOLSETS is not a list of toolsets.',
    'Set it to toolsets joined by +, for example team+workflow, or to all, or unset it.',
  );
}
