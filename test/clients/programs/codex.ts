import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argsOf } from '../models/model.ts';
import { responses } from '../models/responses.ts';
import { run } from '../process.ts';
import { clientProgram } from '../workplace.ts';
import { PROMPT, type Program } from './program.ts';

/** Returns Codex with a certain model. The name of the model determines how Codex offers tools, as the README describes. */
const codexWith = (model: string, { ours, edit }: Pick<Program, 'ours' | 'edit'>): Program => ({
  name: 'codex',
  bin: 'codex',
  protocol: responses,
  // Codex reads the hooks of a repository only if the user trusts the folder.
  settle: ({ home, repo }) => {
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.codex/config.toml'), `[projects.${JSON.stringify(repo.path)}]\ntrust_level = "trusted"\n`);
  },
  quiet: {},
  start: (_workplace, { url }) => ({
    args: [
      ...[
        'exec',
        '--json',
        '--dangerously-bypass-approvals-and-sandbox',
        '--dangerously-bypass-hook-trust',
        '-m',
        model,
        '-c',
        'model_provider=scripted',
        '-c',
        'model_auto_compact_token_limit=100000',
      ],
      ...['-c', `model_providers.scripted={name="scripted",base_url="${url}",wire_api="responses",env_key="SCRIPTED_KEY",request_max_retries=0}`, PROMPT],
    ],
    env: { SCRIPTED_KEY: 'none' },
  }),
  ours,
  edit,
  connections: async (workplace) => {
    const requests = [
      { id: 1, method: 'initialize', params: { clientInfo: { name: 'test', version: '1' } } },
      { method: 'initialized' },
      { id: 2, method: 'mcpServerStatus/list', params: {} },
    ];
    const { stdout, output } = await run(clientProgram('codex'), ['app-server'], {
      cwd: workplace.repo.path,
      env: workplace.env,
      input: requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
      until: (written) => /^\{"id":2.*\n/m.test(written),
    });
    const answer = stdout.split('\n').find((line) => line.startsWith('{"id":2'));
    if (!answer) throw new Error(`no status of servers:\n${output}`);
    const { data } = (JSON.parse(answer) as { result: { data: { name: string; tools: Record<string, unknown> }[] } }).result;
    return data.flatMap(({ name, tools }) => ('covibe_task' in tools ? [name] : []));
  },
});

const patch = (path: string, from: string, to: string) => `*** Begin Patch\n*** Update File: ${path}\n@@\n-${from}\n+${to}\n*** End Patch\n`;

/** A model that Codex does not know. Codex offers it all tools, and it edits files with shell commands. */
export const codexByShell = codexWith('scripted', {
  ours: (tool, args, server = 'covibe') => ({ tool: `mcp__${server}/${tool}`, with: args }),
  edit: (_workplace, path, _from, to) => [{ tool: 'exec_command', with: { cmd: `printf '%s\\n' '${to}' > ${path}` } }],
});

/** A model that has the tool `apply_patch`, and searches for tools of MCP servers. */
export const codex = codexWith('gpt-5.5', {
  ours: (tool, args, server = 'covibe') => ({ tool: `mcp__${server}/${tool}`, with: args }),
  edit: (_workplace, path, from, to) => [{ tool: 'apply_patch', with: { input: patch(path, from, to) } }],
});

/** The newest models write programs that call the tools. */
export const codexInCode = codexWith('gpt-6.1-sol', {
  ours: (tool, args, server = 'covibe') => ({
    tool: 'functions/exec',
    with: (told) => ({ input: `text(await tools.mcp__${server}__${tool}(${JSON.stringify(argsOf(args, told))}))` }),
  }),
  edit: (_workplace, path, from, to) => [
    { tool: 'functions/exec', with: { input: `text(await tools.apply_patch(${JSON.stringify(patch(path, from, to))}))` } },
  ],
});
