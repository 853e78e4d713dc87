import { expect, test } from 'vitest';
import { concealer, targetOf } from './conceal.ts';
import type { Entry } from './entry.ts';

const entry = (transport: Entry['transport']): Entry => ({
  ...{ name: 'a', enabled: true, prefix: true, include: undefined, exclude: [], lazy: false, timeoutMs: 1, protocol: 'auto', line: 1 },
  transport,
});

test("a server's log shows no value of its env, its headers or its address", () => {
  const stdio = entry({
    kind: 'stdio',
    command: '/bin/x',
    args: ['--token', 'abcdef'],
    env: { KEY: 'sesame-open', LONGER: 'sesame-open-twice', LEVEL: 'info' },
    cwd: undefined,
  });
  expect(concealer(stdio)('info: sesame-open-twice and sesame-open')).toBe('info: [redacted] and [redacted]');
  expect(targetOf(stdio)).toBe('/bin/x');
  const http = entry({ kind: 'http', url: 'https://example.org/s/0123456789abcdef/mcp?key=sesame-open&n=1', headers: { Authorization: 'Bearer let-me-in' } });
  expect(concealer(http)('Bearer let-me-in, let-me-in at https://example.org/s/0123456789abcdef/mcp?key=sesame-open&n=1 or sesame-open')).toBe(
    '[redacted], [redacted] at https://example.org/s/[redacted]/mcp?[redacted] or [redacted]',
  );
  expect(targetOf(http)).toBe('https://example.org');
});
