/** A text to run, or to put into a file, and where. */
export interface Snippet {
  readonly where: string;
  readonly text: string;
}

/** Where an agent's bridge runs, and which server it asks. */
export interface Place {
  readonly baseUrl: string;
  readonly cwd: string;
}

interface Connection {
  readonly http: (url: string, token: string) => Snippet;
  /** By the bridge `covibe-mcp`, for clients that speak stdio alone. The token is taken from the environment: files are shared. */
  readonly stdio: (place: Place) => Snippet;
}

/** Each client has its own way to say that a value stands in the environment. */
const TOKEN = 'COVIBE_MCP_TOKEN';

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** As one word to a shell, whatever is in it. */
export const quoted = (text: string): string => (/^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** For clients that start their servers wherever they were started themselves. */
const inFolder = (cwd: string): readonly string[] => ['sh', '-c', 'cd "$0" && exec covibe-mcp', cwd];

const environment = (client: string, { baseUrl }: Place, token: string) => ({
  COVIBE_BASE_URL: baseUrl,
  COVIBE_AGENT: client,
  COVIBE_MCP_TOKEN: token,
});

function stdioEntry(client: string, place: Place, token: string) {
  const [command, ...args] = inFolder(place.cwd);
  return { command, args, cwd: place.cwd, env: environment(client, place, token) };
}

/** How each client is told of a server. Data, one entry a client. */
const CONNECTIONS = {
  'claude-code': {
    http: (url, token) => ({
      where: 'Claude Code: run in your repository',
      text: `claude mcp add --transport http covenant ${url} --header "Authorization: Bearer ${token}"`,
    }),
    stdio: (place) => ({
      where: 'Claude Code: .mcp.json in your repository',
      text: json({ mcpServers: { covibe: { type: 'stdio', ...stdioEntry('claude-code', place, `\${${TOKEN}:-}`) } } }),
    }),
  },
  codex: {
    http: (url, token) => ({
      where: 'Codex: the variable must be set wherever codex is started',
      text: `export COVIBE_MCP_TOKEN=${token}; codex mcp add covenant --url ${url} --bearer-token-env-var COVIBE_MCP_TOKEN`,
    }),
    stdio: ({ baseUrl, cwd }) => ({
      where: 'Codex: ~/.codex/config.toml',
      text: [
        '[mcp_servers.covibe]',
        'command = "covibe-mcp"',
        `cwd = ${JSON.stringify(cwd)}`,
        `env = { COVIBE_BASE_URL = ${JSON.stringify(baseUrl)}, COVIBE_AGENT = "codex" }`,
        'env_vars = ["COVIBE_MCP_TOKEN", "PWD"]',
      ].join('\n'),
    }),
  },
  cursor: {
    http: (url, token) => ({
      where: 'Cursor: add to .cursor/mcp.json',
      text: json({ mcpServers: { covenant: { url, headers: { Authorization: `Bearer ${token}` } } } }),
    }),
    stdio: (place) => ({
      where: 'Cursor: .cursor/mcp.json in your repository',
      text: json({ mcpServers: { covibe: stdioEntry('cursor', place, `\${env:${TOKEN}}`) } }),
    }),
  },
  gemini: {
    http: (url, token) => ({
      where: 'Gemini CLI: run in your repository',
      text: `gemini mcp add --transport http --header "Authorization: Bearer ${token}" covenant ${url}`,
    }),
    stdio: (place) => ({
      where: 'Gemini CLI: .gemini/settings.json in your repository',
      text: json({ mcpServers: { covibe: { command: 'covibe-mcp', cwd: place.cwd, env: environment('gemini', place, `$${TOKEN}`) } } }),
    }),
  },
  opencode: {
    http: (url, token) => ({
      where: 'opencode: add to opencode.json',
      text: json({ mcp: { covenant: { type: 'remote', url, headers: { Authorization: `Bearer ${token}` } } } }),
    }),
    // It refuses a file with a field that it does not know, and `cwd` is one.
    stdio: (place) => ({
      where: 'opencode: opencode.json in your repository',
      text: json({ mcp: { covibe: { type: 'local', command: inFolder(place.cwd), environment: environment('opencode', place, `{env:${TOKEN}}`) } } }),
    }),
  },
} as const satisfies Record<string, Connection>;

export type ClientName = keyof typeof CONNECTIONS;
export const CLIENTS = Object.keys(CONNECTIONS) as [ClientName, ...ClientName[]];

export const overHttp = (client: ClientName, url: string, token: string): Snippet => CONNECTIONS[client].http(url, token);
export const overStdio = (client: ClientName, place: Place): Snippet => CONNECTIONS[client].stdio(place);

export const installCommand = (packageRoot: string): string => `npm install --global ${quoted(packageRoot.replace(/[\\/]+$/, ''))}`;

/** In parentheses, so that a shell has read all of it before the question: what follows a question is its answer. */
export function setupBlock({ baseUrl, cwd }: Place, packageRoot: string): string {
  return `(
  set -e
  cd ${quoted(cwd)}
  ${installCommand(packageRoot)}
  trap 'stty echo 2>/dev/null || true' EXIT INT
  printf 'Token (cv_...): '
  stty -echo 2>/dev/null || true
  read -r COVIBE_MCP_TOKEN
  stty echo 2>/dev/null || true
  echo
  export COVIBE_MCP_TOKEN
  covibe-local setup --base-url ${quoted(baseUrl)}
  covibe-local doctor
)`;
}

export const watchCommand = (baseUrl: string): string => `covibe-local watch --base-url ${quoted(baseUrl)}`;
