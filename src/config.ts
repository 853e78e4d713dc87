import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { LOG_LEVELS } from './kernel/log.ts';
import { isNetwork } from './kernel/network.ts';
import { homeFolder } from './wire/covenant-home.ts';
import { DEFAULT_BODY_BYTES } from './wire/limits.ts';

/** Thrown for an invalid setting. The program stops before it does anything. The message names the source of the setting and its key. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** A high estimate of the memory in bytes that each value of a parsed JSON body needs in addition to its text. */
export const NODE_BYTES = 100;

const port = z.coerce.number().int().min(0).max(65_535);

/**
 * The model for comparing work: an endpoint that is compatible with the OpenAI API, or an installed package. The configuration
 * contains only the name of the variable with the API key, and never the key itself.
 */
const embedder = z.union(
  [
    z.strictObject({
      url: z.url({ protocol: /^https?$/ }).describe('The embeddings endpoint of a service that is compatible with the OpenAI API.'),
      model: z.string().min(1).max(200).describe('The name of the model at that endpoint.'),
      api_key_env: z.string().min(1).max(200).optional().describe('The environment variable that contains the API key.'),
    }),
    z.strictObject({
      package: z.literal('@lat.md/embed').describe('A local model package, used instead of `url` and `model`.'),
      modules: z.string().min(1).optional().describe('The folder that contains the installed package. Default: `node_modules` in the home.'),
    }),
  ],
  { error: 'expected url and model, or package = "@lat.md/embed"' },
);

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable' });
const word = z
  .string()
  .max(4_000)
  .regex(/^[^\0]*$/, { error: 'contains a NUL character' });
const words = z.array(word).max(100);

const isTold = (args: readonly string[], env: object): boolean => [...args, ...Object.values(env)].some((text) => text.includes('{{prompt}}'));

/** How the server starts an agent program. docs/reviews.md explains each field. */
const launcher = z
  .strictObject({
    command: z
      .string()
      .max(500)
      // The program is started through `env`, which would take a name that starts with a dash for an option, and a name with "=" for a variable.
      .regex(/^[^-=\0][^=\0]*$/, { error: 'expected the name or path of a program' })
      .describe('The name or path of the agent program.'),
    args: words.default([]).describe('The arguments of the agent program. `{{prompt}}` is replaced by the prompt.'),
    headless_args: words.optional().describe('The arguments to use instead of `args` if tmux is not installed.'),
    env: z.record(variable, word).default({}).describe('Environment variables to set for the agent program.'),
    pass_env: z.array(variable).max(50).default([]).describe("Variables of the server's environment to pass on to the agent program."),
    prompt: z
      .enum(['argument', 'typed', 'stdin', 'file'])
      .default('argument')
      .describe('How the agent program receives its prompt: as an argument, typed into its terminal, on standard input, or in a file.'),
  })
  .refine(({ prompt, args, headless_args = args, env }) => prompt !== 'argument' || [args, headless_args].every((given) => isTold(given, env)), {
    error: 'expected {{prompt}} in args and headless_args, or prompt = "typed", "stdin" or "file": the agent needs its prompt',
  });

const count = (most: number) => z.int().min(1).max(most);
const MIB = 1024 * 1024;

/** All limits on callers, with their defaults. A test checks that docs/operations.md lists the same limits. */
export const LIMITS = z
  .strictObject({
    connections: count(100_000).default(4_096).describe('Maximum number of open connections to the server.'),
    connections_per_address: count(100_000)
      .default(1_024)
      .describe('Maximum number of open connections from one IP address. A trusted proxy may use all `connections`.'),
    header_seconds: count(3_600).default(10).describe('Seconds in which a connection must send its headers.'),
    request_seconds: count(3_600).default(60).describe('Seconds in which a connection must send a whole request.'),
    stalled_seconds: count(3_600).default(10).describe('Seconds without new data after which the server stops reading a request body.'),
    body_bytes: count(64 * MIB)
      .default(DEFAULT_BODY_BYTES)
      .describe('Largest request body accepted from an authenticated caller, in bytes.'),
    unknown_body_bytes: count(MIB)
      .default(64 * 1024)
      .describe('Largest request body accepted from a caller that sends its token in the body, in bytes.'),
    device_body_bytes: count(64 * 1024)
      .default(4 * 1024)
      .describe('Largest body accepted for a device request or a sign-in, in bytes.'),
    reading_bytes: count(1024 * MIB)
      .default(64 * MIB)
      .describe(
        'Memory in bytes for all request bodies that are being read: half of it for large bodies of authenticated callers, a quarter for their small bodies, and a quarter for all other callers.',
      ),
    token_body_bytes: count(1024 * MIB)
      .default(64 * MIB)
      .describe('Memory in bytes for the parsed bodies of all calls in progress with one token, including calls that wait for a person.'),
    json_depth: count(1_000).default(128).describe('Maximum levels of nesting in a JSON body.'),
    json_nodes: count(100_000_000).default(300_000).describe('Maximum number of values in a JSON body.'),
    token_requests_per_second: count(1_000_000).default(50_000).describe('Maximum number of requests per second with one token.'),
    token_burst: count(10_000_000).default(100_000).describe('Maximum number of requests with one token in a burst.'),
    address_requests_per_second: count(1_000_000)
      .default(100)
      .describe('Maximum number of requests per second from one IP address without a valid credential.'),
    address_burst: count(10_000_000).default(300).describe('Maximum number of requests from one IP address without a valid credential in a burst.'),
    sockets_per_token: count(10_000).default(256).describe('Maximum number of open event and terminal sockets with one token.'),
    sockets: count(100_000).default(1_024).describe('Maximum number of open event and terminal sockets.'),
    journal_events_per_day: count(1_000_000_000).default(2_000_000).describe("Events that one token's calls may add to the journal per day (UTC)."),
    fresh_signin_minutes: count(1_440).default(5).describe('Minutes after a dashboard sign-in in which actions that give out rights are allowed.'),
    session_idle_days: count(30).default(7).describe('Days without a request after which a dashboard session ends. It ends after 30 days at the latest.'),
    agent_token_days: z.int().min(0).max(3_650).default(90).describe('Days until a new agent token expires. 0: it does not expire.'),
  })
  .refine(({ body_bytes, reading_bytes }) => body_bytes <= reading_bytes / 4, { error: 'expected at most a quarter of reading_bytes', path: ['body_bytes'] })
  .refine(({ body_bytes, json_nodes, token_body_bytes }) => body_bytes + NODE_BYTES * json_nodes <= token_body_bytes, {
    error: `expected at least body_bytes + ${NODE_BYTES} × json_nodes: the largest body must fit`,
    path: ['token_body_bytes'],
  });
export type ServerLimits = z.output<typeof LIMITS>;

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** The schema of all settings in flags, environment variables and `config.toml`. `npm run docs` writes the descriptions to docs/configuration.md. */
export const SETTINGS = z.strictObject({
  host: z.string().min(1).describe('The address to listen on.'),
  port: port.describe('The port to listen on. 0 picks a free port.'),
  database_path: z.string().min(1).describe('The SQLite database file. It is used if `database_url` is not set.'),
  database_url: z
    .string()
    .regex(/^postgres(ql)?:\/\//, { error: 'expected postgres://…' })
    .optional()
    .describe('The PostgreSQL database to use instead of SQLite, as `postgres://USER:PASSWORD@HOST/DATABASE`.'),
  log_level: z.enum(LOG_LEVELS).describe('The least severe level that is logged.'),
  tool_timeout_ms: z.coerce
    .number()
    .int()
    .min(1)
    .max(24 * 3_600_000)
    .describe('Milliseconds that a tool call may take.'),
  allowed_hosts: z
    .array(z.string().regex(/^([^:/[\]]+|\[[0-9a-f:.]+\])$/i, { error: 'expected names without a port' }))
    .describe('Host names besides the local ones under which clients may reach the server, for example behind a proxy.'),
  allowed_origins: z
    .array(z.string().regex(/^https?:\/\/[^/]+$/, { error: 'expected http(s)://host[:port]' }))
    .describe("Additional origins whose web pages may call the server. The server's own origin is always allowed."),
  trusted_proxies: z
    .array(z.string().refine(isNetwork, { error: 'expected addresses or networks, such as "10.0.0.5" or "10.0.0.0/8"' }))
    .describe("Addresses or networks of proxies. In a request from a proxy, the server reads the caller's address from the X-Forwarded-For header."),
  limits: LIMITS,
  companion: z.strictObject({
    manifest: z.string().min(1).optional().describe('The JSON file that describes the companion release this server offers, relative to the home.'),
    public_key: z
      .string()
      .regex(/^ed25519:[A-Za-z0-9+/]{43}=$/, { error: 'expected ed25519:… as `covenant companion keygen` prints it' })
      .optional()
      .describe('The public key that signs companion releases. Companions pin it at setup.'),
  }),
  overlap: z.strictObject({ embedder: embedder.optional() }),
  approvals: z.strictObject({
    deadline_s: z
      .int()
      .min(5)
      .max(24 * 3_600)
      .describe('Seconds that a person has to decide on a call whose grant requires approval.'),
  }),
  launchers: z.record(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, { error: 'expected a name of lower-case letters, digits, "-" and "_"' }), launcher),
  instances: z.strictObject({
    max_running: z.int().min(1).max(1_000).describe('Maximum number of agents that this server runs at the same time, in all workspaces together.'),
  }),
  github: z.strictObject({
    base_url: z
      .url({ protocol: /^https?$/ })
      // https is required, because the token is sent with every call.
      .refine((url) => url.startsWith('https:') || LOOPBACK.test(new URL(url).hostname), { error: 'expected https://, except on this machine' })
      .optional()
      .describe("The address of GitHub's API, for GitHub Enterprise `https://HOST/api/v3`. The token comes from `GITHUB_TOKEN`."),
    host: z
      .string()
      .regex(/^[a-z0-9.-]+$/, { error: 'expected a host name in lower-case letters' })
      .optional()
      .describe('The host of the repositories, if it differs from the host in `base_url`.'),
  }),
  telemetry: z.strictObject({
    otlp_endpoint: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('The OpenTelemetry collector that receives traces and metrics by OTLP over HTTP. `OTEL_` variables take precedence.'),
  }),
  anchors: z
    .strictObject({
      every_events: z.int().min(1).max(1_000_000).default(1_000).describe('Number of new events after which the server signs an anchor of a journal.'),
      every_minutes: z
        .int()
        .min(1)
        .max(24 * 60)
        .default(10)
        .describe('Minutes after which the server signs an anchor of a journal that has new events.'),
      key_file: z
        .string()
        .refine(isAbsolute, { error: 'expected an absolute path' })
        .optional()
        .describe('The absolute path of the private key for anchors, if it is not in the home.'),
    })
    .prefault({}),
  machine: z.strictObject({
    repositories: z
      .array(z.string().refine(isAbsolute, { error: 'expected absolute paths' }))
      .optional()
      .describe('The folders in which the server may create and remove git worktrees. Default: any folder.'),
  }),
});

export type Config = z.output<typeof SETTINGS> & { readonly home: string };
export type Flags = Partial<Record<'host' | 'port', string | undefined>>;

/** The environment variables that override a setting. */
export const ENVIRONMENT = {
  MCP_SERVER_PORT: 'port',
  MCP_DATABASE_PATH: 'database_path',
  DATABASE_URL: 'database_url',
  MCP_LOG_LEVEL: 'log_level',
  MCP_TOOL_TIMEOUT: 'tool_timeout_ms',
} as const satisfies Record<string, keyof z.output<typeof SETTINGS>>;

export const defaultsIn = (home: string): Omit<Config, 'home'> => ({
  host: '127.0.0.1',
  port: 3001,
  database_path: join(home, 'covenant.db'),
  log_level: 'info',
  tool_timeout_ms: 30_000,
  allowed_hosts: [],
  allowed_origins: [],
  trusted_proxies: [],
  limits: LIMITS.parse({}),
  companion: {},
  overlap: {},
  approvals: { deadline_s: 600 },
  launchers: {},
  instances: { max_running: 20 },
  github: {},
  telemetry: {},
  anchors: { every_events: 1_000, every_minutes: 10 },
  machine: {},
});

/** Flags take precedence over the environment, the environment over the file, the file over the defaults. */
export function loadConfig(env: NodeJS.ProcessEnv, flags: Flags = {}): Config {
  const home = homeFolder(env);
  const fromFile = checked(join(home, 'config.toml'), readToml(join(home, 'config.toml')));
  const fromEnv: Record<string, unknown> = {};
  for (const [variable, key] of Object.entries(ENVIRONMENT)) {
    if (env[variable]) fromEnv[key] = value(variable, key, env[variable]);
  }
  const fromFlags: Record<string, unknown> = {};
  for (const [flag, given] of Object.entries(flags)) {
    if (given !== undefined) fromFlags[flag] = value(`--${flag}`, flag as keyof z.output<typeof SETTINGS>, given);
  }
  const merged = SETTINGS.parse({ ...defaultsIn(home), ...fromFile, ...fromEnv, ...fromFlags });
  const { manifest } = merged.companion;
  const companion = { ...merged.companion, ...(manifest === undefined ? {} : { manifest: resolve(home, manifest) }) };
  return { ...merged, companion, database_path: resolve(merged.database_path), home };
}

function readToml(path: string): unknown {
  if (!existsSync(path)) return {};
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof TomlError) throw new ConfigError(`${path}:${error.line}:${error.column}: ${error.message.split('\n')[0]}`);
    throw new ConfigError(`${path}: ${(error as Error).message}`);
  }
}

function checked(path: string, document: unknown): Partial<z.output<typeof SETTINGS>> {
  const result = SETTINGS.partial().safeParse(document);
  if (result.success) return result.data;
  const [{ key, message }] = problemsOf(result.error) as [ConfigProblem];
  throw new ConfigError(`${path}: ${key}: ${message}`);
}

export interface ConfigProblem {
  /** The setting as a dotted path, such as `limits.connections`. */
  readonly key: string;
  readonly message: string;
}

/** Returns all problems in `config.toml`. `loadConfig` stops at the first one. */
export function configFileProblems(home: string): ConfigProblem[] {
  const result = SETTINGS.partial().safeParse(readToml(join(home, 'config.toml')));
  return result.success ? [] : problemsOf(result.error);
}

const problemsOf = (error: z.ZodError): ConfigProblem[] =>
  error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ key: [...issue.path, key].join('.'), message: 'unknown setting' }))
      : [{ key: issue.path.join('.'), message: issue.message }],
  );

function value(source: string, key: keyof z.output<typeof SETTINGS>, text: string): unknown {
  const result = SETTINGS.shape[key].safeParse(text);
  if (!result.success) throw new ConfigError(`${source}: ${result.error.issues[0]?.message}`);
  return result.data;
}
