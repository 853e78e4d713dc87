import { expect, test } from 'vitest';
import { createLog } from './log.ts';

function logged(fields: Record<string, unknown>): string {
  const lines: string[] = [];
  createLog('error', (line) => lines.push(line)).error('something', fields);
  expect(lines).toHaveLength(1);
  JSON.parse(lines[0] as string);
  return lines[0] as string;
}

test('writes any value as one line: an error that caused itself, a bigint, a circular object', () => {
  const error = new Error('outer', { cause: new Error('inner') });
  (error.cause as Error).cause = error;
  expect(logged({ error })).toContain('inner');
  const ring: Record<string, unknown> = { count: 12n };
  ring.ring = ring;
  expect(logged({ ring })).toContain('12');
});

test('a log line cannot control the terminal that shows it and is still JSON [harden.terminal.output]', () => {
  const name = 'x\u001b[2J\u009b31m\u202E\u200b';
  const line = logged({ tool: name });
  expect(line).not.toMatch(/[\u001b\u009b\u202E\u200b]/);
  expect(JSON.parse(line)).toMatchObject({ tool: name });
});

test('logs every error inside an AggregateError', () => {
  expect(logged({ error: new AggregateError([new Error('connect ECONNREFUSED ::1:5432')]) })).toContain('ECONNREFUSED');
});

test.each(['postgres://ana:canary@db/x', 'postgresql://ana:can@ary@db', 'https://:canary@collector', 'http://ana:can"ary@host'])(
  'redacts the password in an address (%s)',
  (address) => {
    const line = logged({ error: new Error(`no way to ${address}, nor \nhttp://other:80/path`) });
    expect(line).toContain('[redacted]@');
    expect(line).not.toMatch(/canary|ary@/);
    expect(line).toContain('http://other:80/path');
  },
);
