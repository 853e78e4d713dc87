import { expect, test, vi } from 'vitest';
import { run } from './run.ts';

const PROMISED = [
  ...['up', 'open', 'connect', 'status', 'doctor', 'demo', 'export', 'import', 'backup', 'restore'],
  ...['tools list', 'tools call', 'capabilities grant', 'capabilities revoke', 'capabilities list'],
  ...['audit recent', 'audit verify', 'audit export', 'tokens create', 'tokens list', 'tokens revoke'],
  ...['servers list', 'servers restart', 'servers approve', 'workflow list', 'cycle status', 'instances list'],
];

test('every promised command is there, listed and explains itself [transport.cli.commands]', async () => {
  const all = await said('--help');
  for (const name of PROMISED) {
    expect(all).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(await said(...name.split(' '), '--help')).toMatch(new RegExp(`^covenant ${name}\\b[^\\n]*\\n\\n.+`));
  }
});

async function said(...argv: string[]): Promise<string> {
  let text = '';
  const listening = process.stdout.listeners('error');
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    expect(await run(argv, {})).toBe(0);
    return text;
  } finally {
    write.mockRestore();
    // Each run of a program listens for the end of its pipe.
    for (const added of process.stdout.listeners('error')) if (!listening.includes(added)) process.stdout.off('error', added as () => void);
  }
}
