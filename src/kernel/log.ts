import { withoutTokens } from '../storage/journal.ts';
import { printable } from '../wire/printable.ts';
import { requestFields } from './trace.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

export interface Log {
  /** Lines below this level are not written. Code that would log on every call checks the level first. */
  readonly level: LogLevel;
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
}

/**
 * Writes one JSON object per line. Each line contains the ids of the request and trace that it belongs to. Control characters are
 * escaped, so that a line cannot control a terminal.
 */
export function createLog(level: LogLevel, write: (line: string) => void = (line) => process.stderr.write(line)): Log {
  const loudest = LOG_LEVELS.indexOf(level);
  const at =
    (name: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      if (LOG_LEVELS.indexOf(name) > loudest) return;
      const entry = { time: new Date().toISOString(), level: name, message, ...requestFields(), ...fields };
      write(`${printable(withoutPasswords(withoutTokens(JSON.stringify(entry, jsonReplacer()))))}\n`);
    };
  return { level, error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** Allows any value in a log line. An object that occurs again is written as `[circular]`, and an error is written with its causes. */
function jsonReplacer(): (key: string, value: unknown) => unknown {
  const seen = new WeakSet<object>();
  return (_key, value) => {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return '[circular]';
    seen.add(value);
    if (!(value instanceof Error)) return value;
    const { name, message, stack, cause } = value;
    return { name, message, stack, cause, ...(value instanceof AggregateError && { errors: value.errors }) };
  };
}

/** Error messages may quote an address that contains a password. */
function withoutPasswords(line: string): string {
  return line.replace(/(:\/\/[^\s:/@"\\]*):(?:[^\s"\\]|\\["\\]){0,256}@/g, '$1:[redacted]@');
}
