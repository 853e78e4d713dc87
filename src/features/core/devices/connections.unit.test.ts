import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { expect, onTestFinished, test } from 'vitest';
import { CLIENT_NAMES, type ClientName } from '../../../clients/client.ts';
import { overStdio, setupBlock, watchCommand } from './connections.ts';

interface Started {
  command: string | string[];
  args?: string[];
  cwd?: string;
  env?: Record<string, string>;
  environment?: Record<string, string>;
}

/** Replaces the programs that a setup text calls with programs that record how they were called. */
function machine(...programs: string[]) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'covenant-connections-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const repository = join(root, "it's a $HOME shop");
  const [bin, notes] = [join(root, 'bin'), join(root, 'notes')];
  for (const folder of [repository, bin]) mkdirSync(folder);
  writeFileSync(notes, '');
  for (const program of programs) {
    writeFileSync(join(bin, program), `#!/bin/sh\necho "${program} $* in $(pwd -P) with $COVIBE_MCP_TOKEN" >> ${notes}\n`);
    chmodSync(join(bin, program), 0o755);
  }
  const run = (command: string, args: readonly string[], { cwd = root, input = '' } = {}) =>
    new Promise<number | null>((resolve, reject) => {
      const child = spawn(command, args, { cwd, env: { PATH: `${bin}:${process.env.PATH}` }, stdio: [input === '' ? 'ignore' : 'pipe', 'ignore', 'ignore'] });
      child.on('error', reject).on('close', resolve);
      child.stdin?.end(input);
    });
  return { repository, run, notes: () => readFileSync(notes, 'utf8').split('\n').filter(Boolean) };
}

/** The server of a config, as its client reads it. */
function serverIn(client: ClientName, text: string): Started {
  const config = (client === 'codex' ? parse(text) : JSON.parse(text)) as Record<string, Record<string, Started>>;
  return Object.values(Object.values(config)[0] ?? {})[0] as Started;
}

/** These clients start an MCP server in the folder that its entry contains. The other clients start it in their current folder. */
const HONOURS_CWD: readonly ClientName[] = ['codex', 'gemini'];

test.each(CLIENT_NAMES)(
  '[dashboard.agent-setup.config-has-cwd] the bridge entry for %s starts in the repository, whatever folder the client runs in',
  async (client) => {
    const { repository, run, notes } = machine('covibe-mcp');
    const { text } = overStdio(client, { baseUrl: 'http://127.0.0.1:3001', cwd: repository });
    const { command, args = [], cwd, env, environment } = serverIn(client, text);
    const [program = '', ...rest] = Array.isArray(command) ? command : [command, ...args];
    expect(await run(program, rest, cwd !== undefined && HONOURS_CWD.includes(client) ? { cwd } : {})).toBe(0);
    expect(notes()).toEqual([`covibe-mcp  in ${repository} with `]);
    expect(env ?? environment).toMatchObject({ COVIBE_BASE_URL: 'http://127.0.0.1:3001', COVIBE_AGENT: client });
    if (client !== 'opencode') expect(cwd).toBe(repository);
    expect(text).not.toMatch(/cv_[\w-]{20}/);
  },
);

test('[dashboard.agent-setup.block-is-finite] [dashboard.agent-setup.watch-is-separate] the setup block installs, asks for the token, sets up, checks the result and ends', async () => {
  const { repository, run, notes } = machine('npm', 'covibe-local');
  const block = setupBlock({ baseUrl: 'http://127.0.0.1:3001', cwd: repository }, '/opt/my covenant');
  expect(await run('sh', ['-c', block], { input: 'cv_typed\n' })).toBe(0);
  expect(notes()).toEqual([
    `npm install --global /opt/my covenant in ${repository} with `,
    `covibe-local setup --base-url http://127.0.0.1:3001 in ${repository} with cv_typed`,
    `covibe-local doctor in ${repository} with cv_typed`,
  ]);
  expect(block).not.toContain('watch');
  expect(watchCommand('http://127.0.0.1:3001')).toBe('covibe-local watch --base-url http://127.0.0.1:3001');
});
