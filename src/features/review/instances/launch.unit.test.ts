import { expect, test } from 'vitest';
import type { Launcher } from '../../../clients/client.ts';
import type { AgentSessions, SessionStart } from '../../../machine/agent-sessions/agent-session.ts';
import { childEnvironment } from '../../../machine/process/environment.ts';
import { SLEEPER } from '../../../testing/config.ts';
import { connectionFiles, kindFor, LAUNCHERS, launch, writeAgentFiles } from './launch.ts';
import type { InstanceOutside } from './ports.ts';
import { codingPrompt } from './prompts.ts';
import type { LeasedInstance } from './step.ts';

const TOKEN = 'cv_secret';
const HOSTILE = '--dangerously "quoted" \'too\' $(touch x) `id`; {{instance_id}}\n-rf second line';
const CUSTOM: Launcher = {
  ...SLEEPER,
  args: ['{{instance_id}}', '--at={{worktree}}', '{{mcp_config}}/mcp.json', '{{mcp_url}}', '{{unknown}}', '{{prompt}}'],
  env: { WHERE: '{{worktree}}/x' },
  pass_env: ['MODEL_KEY'],
  prompt: 'argument',
};

/** Returns what a launcher would start, without starting anything. */
async function started(
  launcher: Launcher,
  kind: AgentSessions['kind'] = 'tmux',
  again: Partial<LeasedInstance> = {},
): Promise<{ start: SessionStart; typed: string[]; files: ReadonlyMap<string, string> }> {
  const files = new Map<string, string>();
  const starts: SessionStart[] = [];
  const typed: string[] = [];
  const sessions = {
    kind,
    start: async (start: SessionStart) => {
      starts.push(start);
      return { name: start.name, pid: 1, started: 1 };
    },
    type: async (_: unknown, line: string) => {
      typed.push(line);
      return true;
    },
  } as unknown as AgentSessions;
  const server = { PATH: '/bin', MODEL_KEY: 'of the model', GITHUB_TOKEN: 'of the server', ANTHROPIC_API_KEY: 'key' };
  const outside = {
    launchers: { one: launcher },
    machine: 'here',
    files: { makeFolder: async (...names: string[]) => names.join('/'), replaceFile: async (path: string, text: string) => void files.set(path, text) },
    url: () => 'http://127.0.0.1:3001',
    environment: (passed: readonly string[], own: Record<string, string>) =>
      childEnvironment(server, { ...Object.fromEntries(Object.entries(server).filter(([name]) => passed.includes(name))), ...own }),
  } as unknown as InstanceOutside;
  const prompt = codingPrompt({ id: 'work-7-a1', branch: 'work/work-7-a1', baseBranch: 'main', issue: 7, prompt: HOSTILE });
  const row = {
    id: 'work-7-a1',
    session_name: 'work-7-a1',
    agent: 'one',
    agent_id: 'ag_1',
    worktree_path: '/w',
    step: 'session',
    prompt,
    ...again,
  } as LeasedInstance;
  await writeAgentFiles(outside, row);
  await launch(outside, sessions, row, TOKEN);
  return { start: starts[0] as SessionStart, typed, files };
}

test.each(Object.entries({ ...LAUNCHERS, custom: CUSTOM }))(
  '%s: the prompt is one argument whatever it contains, and the token is only in the environment [review.run.launchers]',
  async (_, launcher) => {
    for (const kind of ['tmux', 'process'] as const) {
      const { start } = await started(launcher, kind);
      expect(start).toMatchObject({ file: launcher.command, cwd: '/w', name: 'work-7-a1' });
      const withPrompt = start.args.filter((arg) => arg.includes('second line'));
      expect(withPrompt).toHaveLength(1);
      // The prompt follows an option name or starts with plain text, so that no program takes it for an option.
      expect(withPrompt[0]).toMatch(/^(--[a-z-]+=)?You are work-7-a1, a coding agent\./);
      expect(withPrompt[0]).toContain(HOSTILE);
      expect(JSON.stringify(start.args)).not.toContain(TOKEN);
      expect(start.env).toMatchObject({
        COVIBE_MCP_TOKEN: TOKEN,
        COVIBE_BASE_URL: 'http://127.0.0.1:3001',
        COVENANT_INSTANCE_ID: 'work-7-a1',
        COVENANT_AGENT_ID: 'ag_1',
      });
      expect(start.env).not.toHaveProperty('GITHUB_TOKEN');
    }
  },
);

test("the launchers for claude, codex, gemini and opencode connect to this server through files or arguments that name the token's variable but not its value", async () => {
  const files = connectionFiles('http://127.0.0.1:3001/mcp/review');
  expect(files.get('.gitignore')).toBe('*\n');
  for (const name of ['mcp.json', 'gemini.json', 'opencode.json']) {
    expect(JSON.stringify(JSON.parse(files.get(name) as string))).toMatch(/http:\/\/127\.0\.0\.1:3001\/mcp\/review.*COVIBE_MCP_TOKEN/);
  }
  expect((await started(LAUNCHERS.claude as Launcher)).start.args).toContain('--mcp-config=/w/.covenant/mcp.json');
  expect((await started(LAUNCHERS.claude as Launcher, 'process')).start.args).toContain('--print');
  expect((await started(LAUNCHERS.codex as Launcher)).start.args).toContain('mcp_servers.covenant.bearer_token_env_var="COVIBE_MCP_TOKEN"');
  expect((await started(LAUNCHERS.gemini as Launcher)).start.env.GEMINI_CLI_SYSTEM_SETTINGS_PATH).toBe('/w/.covenant/gemini.json');
  expect((await started(LAUNCHERS.opencode as Launcher)).start.env.OPENCODE_CONFIG).toBe('/w/.covenant/opencode.json');
  expect((await started(LAUNCHERS.claude as Launcher)).start.env.ANTHROPIC_API_KEY).toBe('key');
  for (const launcher of Object.values(LAUNCHERS)) {
    const written = [...(await started(launcher)).files.values()];
    expect(written.filter((text) => text.includes('COVIBE_MCP_TOKEN')).length).toBeGreaterThan(0);
    expect(written.filter((text) => text.includes(TOKEN))).toEqual([]);
  }
});

test("a custom launcher's placeholders are filled once, and its program gets the server's environment variables that the launcher names", async () => {
  const { start } = await started(CUSTOM);
  expect(start.args.slice(0, 5)).toEqual(['work-7-a1', '--at=/w', '/w/.covenant/mcp.json', 'http://127.0.0.1:3001/mcp/review+team+workflow', '{{unknown}}']);
  expect(start.args[5]).toContain('{{instance_id}}');
  expect(start.env).toMatchObject({ WHERE: '/w/x', MODEL_KEY: 'of the model' });
  expect(start.env).not.toHaveProperty('ANTHROPIC_API_KEY');
});

test('a prompt can be typed, sent to stdin, or left in a file', async () => {
  const typed = await started({ ...CUSTOM, args: [], prompt: 'typed' });
  expect(typed.typed).toEqual([expect.stringContaining('You are work-7-a1')]);
  const input = await started({ ...CUSTOM, args: [], prompt: 'typed' }, 'process');
  expect([input.typed, input.start.input]).toEqual([[], expect.stringContaining('You are work-7-a1')]);
  const stdin: Launcher = { ...CUSTOM, args: [], prompt: 'stdin' };
  expect((await started(stdin, 'process')).start.input).toContain('You are work-7-a1');
  // A launcher that sends the prompt to stdin never gets a terminal, because stdin does not end in a terminal.
  const kinds = [stdin, CUSTOM].map((launcher) => kindFor({ launchers: { one: launcher } } as unknown as InstanceOutside, { agent: 'one' } as LeasedInstance));
  expect(kinds).toEqual(['process', undefined]);
  const file = await started({ ...CUSTOM, args: ['{{mcp_config}}/prompt.md'], prompt: 'file' });
  expect([file.start.args, file.start.input, file.typed]).toEqual([['/w/.covenant/prompt.md'], undefined, []]);
  expect(file.files.get('/w/.covenant/prompt.md')).toContain('You are work-7-a1');
});

test("the files of a restarted agent contain the news and the server's current address", async () => {
  const { files } = await started({ ...CUSTOM, prompt: 'file' }, 'process', { step: 'restart', step_data: JSON.stringify({ prompt: 'There is feedback.' }) });
  expect(files.get('/w/.covenant/prompt.md')).toBe('There is feedback.');
  expect(files.get('/w/.covenant/mcp.json')).toContain('http://127.0.0.1:3001/mcp');
  expect(files.get('/w/.covenant/machine')).toBe('here');
});
