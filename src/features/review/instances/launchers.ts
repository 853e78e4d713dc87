/**
 * How an agent program is started: data, so that a user can add one or change one in `config.toml` (`[launchers.<name>]`).
 * In `args`, `headless_args` and `env` these are replaced: {{prompt}}, {{mcp_url}}, {{mcp_config}} (the folder with the files
 * below), {{instance_id}}, {{worktree}}.
 */
export interface Launcher {
  readonly command: string;
  /** With a terminal. */
  readonly args: readonly string[];
  /** Without one, where there is no tmux. Default: as with one. */
  readonly headless_args?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Names of variables that it gets of the server's own environment: the key of its model, say. */
  readonly pass_env: readonly string[];
  /** `argument`: by {{prompt}} in its arguments. `typed`: typed into its terminal once it runs. `stdin`: written to its input. `file`: only in {{mcp_config}}/prompt.md. */
  readonly prompt: 'argument' | 'typed' | 'stdin' | 'file';
  /** The one workspace that has it; else every one. */
  readonly workspace?: string | undefined;
}

const codex = ['-c', 'mcp_servers.covenant.url="{{mcp_url}}"', '-c', 'mcp_servers.covenant.bearer_token_env_var="COVIBE_MCP_TOKEN"'];
const claude = ['--mcp-config={{mcp_config}}/mcp.json', '--allowedTools=mcp__covenant'];

export const LAUNCHERS: Readonly<Record<string, Launcher>> = {
  claude: {
    command: 'claude',
    args: [...claude, '--', '{{prompt}}'],
    headless_args: ['--print', ...claude, '--', '{{prompt}}'],
    env: {},
    pass_env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CONFIG_DIR'],
    prompt: 'argument',
  },
  codex: {
    command: 'codex',
    args: [...codex, '--', '{{prompt}}'],
    headless_args: ['exec', ...codex, '--', '{{prompt}}'],
    env: {},
    pass_env: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'CODEX_HOME'],
    prompt: 'argument',
  },
  gemini: {
    command: 'gemini',
    args: ['--skip-trust', '--prompt-interactive={{prompt}}'],
    headless_args: ['--skip-trust', '--prompt={{prompt}}'],
    env: { GEMINI_CLI_SYSTEM_SETTINGS_PATH: '{{mcp_config}}/gemini.json' },
    pass_env: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_CLOUD_PROJECT', 'GOOGLE_APPLICATION_CREDENTIALS'],
    prompt: 'argument',
  },
  opencode: {
    command: 'opencode',
    args: ['--prompt={{prompt}}'],
    headless_args: ['run', '--', '{{prompt}}'],
    env: { OPENCODE_CONFIG: '{{mcp_config}}/opencode.json' },
    pass_env: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
    prompt: 'argument',
  },
};

/** What stands in the worktree for the agents to read, below `.covenant/`. The token is named, never written. */
export function connectionFiles(mcpUrl: string): ReadonlyMap<string, string> {
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  const bearer = (reference: string) => ({ Authorization: `Bearer ${reference}` });
  return new Map([
    // The folder keeps itself out of git: nothing of the repository's own excludes is touched.
    ['.gitignore', '*\n'],
    ['mcp.json', json({ mcpServers: { covenant: { type: 'http', url: mcpUrl, headers: bearer('$' + '{COVIBE_MCP_TOKEN}') } } })],
    ['gemini.json', json({ mcpServers: { covenant: { httpUrl: mcpUrl, headers: bearer('$COVIBE_MCP_TOKEN'), trust: true } } })],
    ['opencode.json', json({ mcp: { covenant: { type: 'remote', url: mcpUrl, headers: bearer('{env:COVIBE_MCP_TOKEN}'), enabled: true } } })],
  ]);
}

export interface Filling {
  readonly prompt: string;
  readonly mcp_url: string;
  readonly mcp_config: string;
  readonly instance_id: string;
  readonly worktree: string;
}

export const filled = (text: string, values: Filling): string =>
  text.replace(/\{\{(prompt|mcp_url|mcp_config|instance_id|worktree)\}\}/g, (_, name: keyof Filling) => values[name]);
