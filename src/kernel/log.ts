import { withoutTokens } from '../storage/secrets.ts';
import { marks } from './errand.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Log {
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
}

/** One JSON object a line, with the request and the trace that it was written for. */
export function createLog(level: LogLevel, write: (line: string) => void = (line) => process.stderr.write(line)): Log {
  const loudest = LOG_LEVELS.indexOf(level);
  const at =
    (name: LogLevel) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      if (LOG_LEVELS.indexOf(name) > loudest) return;
      const entry = { time: new Date().toISOString(), level: name, message, ...marks(), ...fields };
      write(`${withoutPasswords(withoutTokens(JSON.stringify(entry, describeErrors)))}\n`);
    };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

function describeErrors(_key: string, value: unknown): unknown {
  return value instanceof Error ? { name: value.name, message: value.message, stack: value.stack, cause: value.cause } : value;
}

/** A driver's error may quote the address it could not reach, password and all. */
function withoutPasswords(line: string): string {
  return line.replace(/(postgres(?:ql)?:\/\/[^:/@"]*):[^@"]*@/g, '$1:[redacted]@');
}
