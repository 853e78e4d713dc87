/** How each client is told of a server: a line to paste, and what it does. Data, one entry a client. */
const CONNECTIONS = {
  'claude-code': {
    where: 'Claude Code: run in your repository',
    command: (url: string, token: string) => `claude mcp add --transport http covenant ${url} --header "Authorization: Bearer ${token}"`,
  },
  codex: {
    where: 'Codex: the variable must be set wherever codex is started',
    command: (url: string, token: string) => `export COVIBE_MCP_TOKEN=${token}; codex mcp add covenant --url ${url} --bearer-token-env-var COVIBE_MCP_TOKEN`,
  },
  gemini: {
    where: 'Gemini CLI: run in your repository',
    command: (url: string, token: string) => `gemini mcp add --transport http --header "Authorization: Bearer ${token}" covenant ${url}`,
  },
  cursor: {
    where: 'Cursor: add to .cursor/mcp.json',
    command: (url: string, token: string) => JSON.stringify({ mcpServers: { covenant: { url, headers: { Authorization: `Bearer ${token}` } } } }),
  },
  opencode: {
    where: 'opencode: add to opencode.json',
    command: (url: string, token: string) => JSON.stringify({ mcp: { covenant: { type: 'remote', url, headers: { Authorization: `Bearer ${token}` } } } }),
  },
} as const;

export type ClientName = keyof typeof CONNECTIONS;
export const CLIENTS = Object.keys(CONNECTIONS) as ClientName[];

export function connection(client: ClientName, url: string, token: string): { where: string; command: string } {
  const { where, command } = CONNECTIONS[client];
  return { where, command: command(url, token) };
}
