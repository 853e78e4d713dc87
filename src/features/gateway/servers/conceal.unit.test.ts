import { expect, test } from 'vitest';
import { concealer, targetOf } from './conceal.ts';
import type { ServerEntry } from './entry.ts';

const entry = (transport: ServerEntry['transport']): ServerEntry => ({
  ...{ name: 'a', enabled: true, prefix: true, include: undefined, exclude: [], lazy: false, timeoutMs: 1, protocol: 'auto', line: 1, workspaces: ['default'] },
  transport,
});

test('arguments named like secrets and passwords in addresses are redacted; other arguments are not', () => {
  const args = ['-y', 'some-long-package', '--api-key', 'sesame-open-1', '--token=sesame-open-2', '--header', 'Authorization: Bearer sesame-open-3'];
  const conceal = concealer(entry({ kind: 'stdio', command: 'x', args: [...args, 'postgres://ana:sesame-open-4@host/notes'], env: {}, cwd: undefined }));
  expect(conceal('some-long-package sesame-open-1 sesame-open-2 sesame-open-3 postgres://ana:sesame-open-4@host/notes')).toBe(
    'some-long-package [redacted] [redacted] [redacted] postgres://ana:[redacted]@host/notes',
  );
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
