import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { runCompanion } from '../companion/run.ts';
import { GROUPS as COMPANION } from '../companion/subcommands/index.ts';
import { columnsOf } from './columns.ts';
import type { BareCommand } from './command.ts';
import { commandsOf, GROUPS } from './groups.ts';
import type { Terminal } from './program.ts';
import { run } from './run.ts';

const PROMISED = [
  ...['up', 'open', 'connect', 'status', 'doctor', 'demo', 'export', 'import', 'backup', 'restore'],
  ...['tools list', 'tools call', 'capabilities grant', 'capabilities revoke', 'capabilities list'],
  ...['audit recent', 'audit verify', 'audit export', 'tokens create', 'tokens list', 'tokens revoke'],
  ...['servers list', 'servers restart', 'servers approve', 'workflow list', 'cycle status', 'instances list'],
];

const PROGRAMS = [
  { program: 'covenant', run, groups: await commandsOf(GROUPS) },
  { program: 'covibe-local', run: runCompanion, groups: await commandsOf(COMPANION) },
];
const EVERY = PROGRAMS.flatMap(({ program, run: start, groups }) =>
  groups.flatMap(({ group, commands }) => commands.map((command) => ({ program, start, group, command: command as BareCommand<never> }))),
);

async function said(start: typeof run, ...argv: string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const code = await start(argv, {}, { stdout, stderr, cwd: () => '/' } as unknown as Terminal);
  stdout.end();
  stderr.end();
  const [out, notes] = await printed;
  return { code, out, notes };
}

test('every required command exists, and its help begins with its name [transport.cli.commands]', async () => {
  for (const name of PROMISED) {
    const { code, out } = await said(run, ...name.split(' '), '--help');
    expect([name, code]).toEqual([name, 0]);
    expect(out).toMatch(new RegExp(`^Usage: covenant ${name}\\b[^\\n]*\\n\\n.+`));
  }
});

test('the help of a program lists its groups on at most 45 lines of 80 columns [use.help.groups]', async () => {
  for (const { program, run: start, groups } of PROGRAMS) {
    const { out, code } = await said(start, '--help');
    const lines = out.trimEnd().split('\n');
    expect([program, code]).toEqual([program, 0]);
    expect(lines.length).toBeLessThanOrEqual(45);
    for (const line of lines) expect(columnsOf(line), line).toBeLessThanOrEqual(80);
    for (const { group } of groups) expect(new RegExp(`^  ${group.name} +\\S`, 'm').test(out), group.name).toBe(group.section !== undefined);
    expect(out).toContain('Global options: --json, ');
  }
});

test('the help of a group lists its commands, and goes to standard error if the command line names no command [use.help.group]', async () => {
  for (const { program, run: start, groups } of PROGRAMS) {
    for (const { group, commands } of groups) {
      if (commands.length === 1 && commands[0]?.name === group.name) {
        if (group.section !== undefined) expect([group.name, commands[0].summary]).toEqual([group.name, group.summary]);
        continue;
      }
      const asked = await said(start, group.name, '--help');
      expect(asked).toMatchObject({ code: 0, notes: '' });
      for (const { name, hidden } of commands) expect(new RegExp(`^  ${name.split(' ')[1]} +\\S`, 'm').test(asked.out), name).toBe(!hidden);
      for (const line of asked.out.split('\n')) expect(columnsOf(line), line).toBeLessThanOrEqual(100);
      expect(await said(start, group.name)).toEqual({ code: 2, out: '', notes: asked.out });
      expect(JSON.parse((await said(start, group.name, '--json')).out)).toMatchObject({
        kind: 'error',
        code: 'USAGE',
        next: `${program} ${group.name} --help`,
      });
    }
  }
});

test('the help of a command shows its arguments, every option with its default, and an example [use.help.command]', async () => {
  expect(EVERY.length).toBeGreaterThan(100);
  for (const { program, start, command } of EVERY) {
    expect([command.name, command.summary.length <= 70, /^[A-Z].*\.$/.test(command.summary)]).toEqual([command.name, true, true]);
    const { out, code } = await said(start, ...command.name.split(' '), '--help');
    const flat = out.replaceAll(/\s+/g, ' ');
    expect([command.name, code]).toEqual([command.name, 0]);
    expect(out).toContain(`Usage: ${program} ${command.name}`);
    for (const each of command.arguments ?? []) expect(flat).toContain(` ${each.name} ${each.description} `);
    for (const [name, each] of Object.entries(command.options ?? {})) {
      expect(flat).toContain(`--${name}${each.value === undefined ? '' : ` ${each.value}`} ${each.description}`);
      if (each.default !== undefined) expect(flat).toContain(`Default: ${each.default}.`);
      expect(each.description).toMatch(/^[A-Z`].*\.$/);
    }
    for (const example of command.examples) expect(out).toContain(`  ${program} ${example}`);
    expect(out).toContain('--json');
    expect(out.includes('--workspace NAME')).toBe(program === 'covenant' && !command.local);
    for (const line of out.split('\n')) if (!line.startsWith(`  ${program} `)) expect(columnsOf(line), line).toBeLessThanOrEqual(80);
  }
});

test('help, -h, -v, options before the command and -- all work [use.help.forms]', async () => {
  const top = await said(run, '--help');
  const group = await said(run, 'tokens', '--help');
  const command = await said(run, 'tokens', 'rotate', '--help');
  for (const argv of [[], ['help'], ['-h'], ['--json', '--help']]) expect(await said(run, ...argv)).toEqual(top);
  for (const argv of [
    ['help', 'tokens'],
    ['-h', 'tokens'],
    ['--workspace', 'x', 'tokens', '-h'],
  ])
    expect(await said(run, ...argv)).toEqual(group);
  for (const argv of [
    ['help', 'tokens', 'rotate'],
    ['tokens', '-h', 'rotate'],
    ['--workspace', 'x', 'tokens', 'rotate', '-h'],
  ])
    expect(await said(run, ...argv)).toEqual(command);
  for (const argv of [['-v'], ['--version'], ['--json', '--version']])
    expect(await said(run, ...argv)).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  // The value of an option before the command is not mistaken for the command.
  expect(JSON.parse((await said(run, '--json', '--no-color', 'explain', 'USAGE')).out)).toMatchObject({ kind: 'error_code', code: 'USAGE' });
  expect(JSON.parse((await said(run, 'explain', '--json', '--', 'USAGE')).out)).toMatchObject({ code: 'USAGE' });
  // Words after `--` are never options.
  expect(await said(run, 'explain', '--', '--json')).toMatchObject({ code: 1, out: '', notes: expect.stringContaining('Unknown error code "--JSON"') });
  expect(await said(run, '--repo', '.', 'workflow', 'list')).toMatchObject({ code: 2, notes: expect.stringContaining('go after its name') });
});

test.each([
  [['wrkflow'], 'Did you mean `covenant workflow`?', 'covenant --help'],
  [['workflow', 'lst'], 'Did you mean `covenant workflow list`?', 'covenant workflow --help'],
  [['workflow', 'list', '--repos', '.'], 'Did you mean `--repo`?', 'covenant workflow list --help'],
  [['zzzzzz'], 'Unknown command "zzzzzz".', 'covenant --help'],
  [['help', 'tokns'], 'Did you mean `covenant tokens`?', 'covenant --help'],
  [['tokens', 'rotate'], 'Example: covenant tokens rotate', 'covenant tokens rotate --help'],
  [['cycle', 'start'], 'Example: covenant cycle start --feature checkout', 'covenant cycle start --help'],
  [['explain', 'a', 'b'], 'Unexpected argument "b"', 'covenant explain --help'],
  [['up', '--port'], '`--port` needs a value: --port N', 'covenant up --help'],
  [['cycle', 'start', '--feature', '--json'], '--feature=--json', 'covenant cycle start --help'],
  [['status', '--verbose=yes'], '`--verbose` takes no value', 'covenant status --help'],
  [['doctor', '--workspace', 'x'], 'takes no `--workspace`', 'covenant doctor --help'],
])('refuses %j, suggests the nearest word and shows the next step [use.error.nearest]', async (argv, message, next) => {
  const { code, out, notes } = await said(run, ...argv);
  const shown = out === '' ? notes : String((JSON.parse(out) as { message: string; next: string }).message);
  expect([code, shown]).toEqual([2, expect.stringContaining(message)]);
  expect(out === '' ? notes : out).toContain(next);
});

test('help and completion list only the current names of commands and options, and the earlier names still work [use.cli.one-name]', async () => {
  const earlier = ['approvals refuse', 'devices refuse', 'workflow questions', 'workflow answer', 'settings reset', 'prices reset'];
  const spellings = ['--repository', '--reset', ...earlier];
  const screens = await Promise.all(
    [
      ['--help'],
      ...EVERY.flatMap(({ program, command }) => (program === 'covenant' && !command.hidden ? [[...command.name.split(' '), '--help']] : [])),
      ...GROUPS.map(({ name }) => [name, '--help']),
    ].map((argv) => said(run, ...argv)),
  );
  const scripts = await Promise.all(['bash', 'zsh', 'fish'].map((shell) => said(run, 'completion', shell)));
  for (const spelling of spellings) {
    for (const { out } of screens) expect(out).not.toContain(` ${spelling}`);
    for (const { out } of scripts) expect(out).not.toMatch(new RegExp(`${spelling.replace(' ', "'.*\\b")}\\b`));
  }
  for (const name of earlier) expect(await said(run, ...name.split(' '), '--help')).toMatchObject({ code: 0 });
  for (const [command, option] of [
    ['workflow list', 'repo'],
    ['workflow create', 'repo'],
    ['instances list', 'repo'],
    ['claims list', 'repo'],
    ['cycle status', 'repo'],
  ]) {
    const found = EVERY.find((each) => each.command.name === command);
    expect(found?.command.options?.[String(option)]?.formerly).toBe('repository');
  }
  expect(EVERY.find((each) => each.command.name === 'overlap set')?.command.options?.default?.formerly).toBe('reset');
});
