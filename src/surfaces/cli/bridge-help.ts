/** The environment variables that configure `covibe-mcp`, which takes no commands. */
export const BRIDGE_VARIABLES: readonly { readonly name: string; readonly description: string; readonly default?: string }[] = [
  { name: 'COVIBE_BASE_URL', description: 'The URL of the Covenant server.', default: 'http://127.0.0.1:3001' },
  { name: 'COVIBE_MCP_TOKEN', description: 'The token of the agent. If it is set, the stored tokens are not used. It is never written to a file.' },
  { name: 'COVIBE_AGENT', description: 'The agent whose token in `~/.covibe/credentials.json` is used, such as `codex`.' },
  { name: 'COVIBE_TOOLSETS', description: 'The toolsets that the agent gets, such as `team+workflow` or `all`.', default: 'the toolsets of the token' },
  { name: 'COVIBE_TIMEOUT_MS', description: 'The time limit of a call, in milliseconds.', default: '35000' },
];

export const BRIDGE_ABOUT = 'Serves the tools of a Covenant server over standard input and output (MCP). Agent programs start it.';

export const BRIDGE_EXITS = { 0: 'standard input ended', 1: 'a setting is wrong' } as const;

export function bridgeHelp(): string {
  const rows = BRIDGE_VARIABLES.map(({ name, description, default: value }) => {
    const text = `${description.replaceAll('`', '')}${value === undefined ? '' : ` Default: ${value}.`}`;
    return `  ${name}\n      ${text}`;
  });
  const exits = Object.entries(BRIDGE_EXITS).map(([code, meaning]) => `${code} ${meaning}`);
  return `Usage: covibe-mcp\n\n${BRIDGE_ABOUT}\n\nEnvironment\n${rows.join('\n')}\n\nOptions: -h, --help, -v, --version\nExit codes: ${exits.join(', ')}`;
}
