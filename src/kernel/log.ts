import { withoutTokens } from '../storage/secrets.ts';
import { printable } from '../wire/printable.ts';
import { marks } from './trace.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

export interface Log {
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
}

/** One JSON object a line, with the request and the trace that it was written for. A terminal that shows it is not steered by it. */
export function createLog(level: LogLevel, write: (line: string) => void = (line) => process.stderr.write(line)): Log {
  const loudest = LOG_LEVELS.indexOf(level);
  const at =
    (name: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      if (LOG_LEVELS.indexOf(name) > loudest) return;
      const entry = { time: new Date().toISOString(), level: name, message, ...marks(), ...fields };
      write(`${printable(withoutPasswords(withoutTokens(JSON.stringify(entry, told()))))}\n`);
    };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** A line is written whatever is told: what leads back to itself is told once. */
function told(): (key: string, value: unknown) => unknown {
  const seen = new WeakSet<object>();
  return (_key, value) => {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return '[told above]';
    seen.add(value);
    if (!(value instanceof Error)) return value;
    const { name, message, stack, cause } = value;
    return { name, message, stack, cause, ...(value instanceof AggregateError && { errors: value.errors }) };
  };
}

/** An error may quote the address that could not be reached, password and all. */
function withoutPasswords(line: string): string {
  return line.replace(/(:\/\/[^\s:/@"\\]*):(?:[^\s"\\]|\\["\\]){0,256}@/g, '$1:[redacted]@');
}
