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

/** How a client is to start the bridge. */
interface Bridge {
  readonly baseUrl: string;
  /** Undefined: where the client starts it. */
  readonly cwd?: string | undefined;
  /** Its own name, unless it is on no PATH. */
  readonly command?: readonly string[];
}

interface Connection {
  readonly http: (url: string, token: string) => Snippet;
  /** The file that its servers stand in, and where in that file. */
  readonly file: string;
  readonly section: string;
  /** By the bridge `covibe-mcp`, for clients that speak stdio alone. The token is taken from the environment: files are shared. */
  readonly stdio: (bridge: Bridge) => Readonly<Record<string, unknown>>;
}

/** Each client has its own way to say that a value stands in the environment. */
const TOKEN = 'COVIBE_MCP_TOKEN';

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** As one word to a shell, whatever is in it. */
export const quoted = (text: string): string => (/^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const BRIDGE = ['covibe-mcp'] as const;

/** For clients that start their servers wherever they were started themselves. */
const inFolder = ({ cwd, command = BRIDGE }: Bridge): readonly string[] =>
  cwd === undefined ? command : ['sh', '-c', 'cd "$0" && exec "$@"', cwd, ...command];

const environment = (client: string, { baseUrl }: Bridge, token: string) => ({
  COVIBE_BASE_URL: baseUrl,
  COVIBE_AGENT: client,
  COVIBE_MCP_TOKEN: token,
});

const started = ([command, ...args]: readonly string[]) => ({ command, ...(args.length > 0 && { args }) });
const folder = ({ cwd }: Bridge) => (cwd === undefined ? {} : { cwd });

/** How each client is told of a server. Data, one entry a client. */
const CONNECTIONS = {
  'claude-code': {
    http: (url, token) => ({
      where: 'Claude Code: run in your repository',
      text: `claude mcp add --transport http covenant ${url} --header "Authorization: Bearer ${token}"`,
    }),
    file: 'Claude Code: .mcp.json in your repository',
    section: 'mcpServers',
    stdio: (bridge) => ({
      type: 'stdio',
      ...started(inFolder(bridge)),
      ...folder(bridge),
      env: environment('claude-code', bridge, `\${${TOKEN}:-}`),
    }),
  },
  codex: {
    http: (url, token) => ({
      where: 'Codex: the variable must be set wherever codex is started',
      text: `export COVIBE_MCP_TOKEN=${token}; codex mcp add covenant --url ${url} --bearer-token-env-var COVIBE_MCP_TOKEN`,
    }),
    file: 'Codex: ~/.codex/config.toml',
    section: 'mcp_servers',
    // PWD goes along because the file is one for all repositories.
    stdio: (bridge) => ({
      ...started(bridge.command ?? BRIDGE),
      ...folder(bridge),
      env: { COVIBE_BASE_URL: bridge.baseUrl, COVIBE_AGENT: 'codex' },
      env_vars: [TOKEN, 'PWD'],
    }),
  },
  cursor: {
    http: (url, token) => ({
      where: 'Cursor: add to .cursor/mcp.json',
      text: json({ mcpServers: { covenant: { url, headers: { Authorization: `Bearer ${token}` } } } }),
    }),
    file: 'Cursor: .cursor/mcp.json in your repository',
    section: 'mcpServers',
    stdio: (bridge) => ({ ...started(inFolder(bridge)), ...folder(bridge), env: environment('cursor', bridge, `\${env:${TOKEN}}`) }),
  },
  gemini: {
    http: (url, token) => ({
      where: 'Gemini CLI: run in your repository',
      text: `gemini mcp add --transport http --header "Authorization: Bearer ${token}" covenant ${url}`,
    }),
    file: 'Gemini CLI: .gemini/settings.json in your repository',
    section: 'mcpServers',
    stdio: (bridge) => ({ ...started(bridge.command ?? BRIDGE), ...folder(bridge), env: environment('gemini', bridge, `$${TOKEN}`) }),
  },
  opencode: {
    http: (url, token) => ({
      where: 'opencode: add to opencode.json',
      text: json({ mcp: { covenant: { type: 'remote', url, headers: { Authorization: `Bearer ${token}` } } } }),
    }),
    file: 'opencode: opencode.json in your repository',
    section: 'mcp',
    // It refuses a file with a field that it does not know, and `cwd` is one.
    stdio: (bridge) => ({ type: 'local', command: inFolder(bridge), environment: environment('opencode', bridge, `{env:${TOKEN}}`) }),
  },
} satisfies Record<string, Connection>;

export type ClientName = keyof typeof CONNECTIONS;
export const CLIENTS = Object.keys(CONNECTIONS) as [ClientName, ...ClientName[]];

export const overHttp = (client: ClientName, url: string, token: string): Snippet => CONNECTIONS[client].http(url, token);

/** The bridge's entry in a client's configuration: where it stands, and what it is. */
export function bridgeEntry(client: ClientName, bridge: Bridge): { readonly at: readonly [string, string]; readonly value: Readonly<Record<string, unknown>> } {
  const { section, stdio } = CONNECTIONS[client];
  return { at: [section, 'covibe'], value: stdio(bridge) };
}

export function overStdio(client: ClientName, place: Place): Snippet {
  const { at, value } = bridgeEntry(client, place);
  return { where: CONNECTIONS[client].file, text: client === 'codex' ? tomlTable(at, value) : json({ [at[0]]: { [at[1]]: value } }) };
}

/** One line a key, as people write it. */
export const tomlTable = (at: readonly string[], value: Readonly<Record<string, unknown>>): string =>
  [`[${at.join('.')}]`, ...Object.entries(value).map(([key, each]) => `${key} = ${tomlValue(each)}`)].join('\n');

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, each]) => `${key} = ${tomlValue(each)}`)
      .join(', ')} }`;
  return JSON.stringify(value);
}

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
