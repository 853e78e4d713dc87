import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { LOG_LEVELS } from './kernel/log.ts';
import { isNetwork } from './kernel/network.ts';
import { homeFolder } from './wire/covenant-home.ts';
import { DEFAULT_BODY_BYTES } from './wire/limits.ts';

/** Wrong configuration stops the program before it does anything; the message names the source and the key. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The memory that each value of a parsed body takes besides its bytes, estimated generously. */
export const NODE_BYTES = 100;

const port = z.coerce.number().int().min(0).max(65_535);

/** An endpoint that speaks as OpenAI's does, or a package that the user has installed. The key is named, never written down here. */
const embedder = z.union(
  [
    z.strictObject({ url: z.url({ protocol: /^https?$/ }), model: z.string().min(1).max(200), api_key_env: z.string().min(1).max(200).optional() }),
    z.strictObject({ package: z.literal('@lat.md/embed'), modules: z.string().min(1).optional() }),
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

/** How an agent program is started that the server itself starts. docs/reviews.md says what each is. */
const launcher = z
  .strictObject({
    command: z
      .string()
      .max(500)
      // `env` in front of it would take the one for an option and the other for a variable.
      .regex(/^[^-=\0][^=\0]*$/, { error: 'expected the name or path of a program' }),
    args: words.default([]),
    headless_args: words.optional(),
    env: z.record(variable, word).default({}),
    pass_env: z.array(variable).max(50).default([]),
    prompt: z.enum(['argument', 'typed', 'stdin', 'file']).default('argument'),
  })
  .refine(({ prompt, args, headless_args = args, env }) => prompt !== 'argument' || [args, headless_args].every((given) => isTold(given, env)), {
    error: 'expected {{prompt}} in args and headless_args, or prompt = "typed", "stdin" or "file": the agent must be told what to do',
  });

const count = (most: number) => z.int().min(1).max(most);
const MIB = 1024 * 1024;

/** Every bound on callers, with its default. docs/operations.md lists them; a test compares. */
export const LIMITS = z
  .strictObject({
    /** Open connections, of the whole server and of one address; a trusted proxy may have all of them. */
    connections: count(100_000).default(4_096),
    connections_per_address: count(100_000).default(1_024),
    /** Seconds in which a connection must send its headers, and a whole request. */
    header_seconds: count(3_600).default(10),
    request_seconds: count(3_600).default(60),
    /** Seconds after which a body is given up of which nothing more comes. */
    stalled_seconds: count(3_600).default(10),
    /** The largest body of a known caller; of one who sends its token in the body; of a device or a sign-in. */
    body_bytes: count(64 * MIB).default(DEFAULT_BODY_BYTES),
    unknown_body_bytes: count(MIB).default(64 * 1024),
    device_body_bytes: count(64 * 1024).default(4 * 1024),
    /** Bytes of all bodies that are being read and parsed: half for large bodies of known callers, a quarter for small ones, a quarter for everybody else. */
    reading_bytes: count(1024 * MIB).default(64 * MIB),
    /** Memory for the parsed bodies of one token whose calls are under way: a call that waits for a person keeps its arguments that long. */
    token_body_bytes: count(1024 * MIB).default(64 * MIB),
    json_depth: count(1_000).default(128),
    json_nodes: count(100_000_000).default(300_000),
    /** Requests of one token, and of one address without a valid credential: refilled each second up to the burst. */
    token_requests_per_second: count(1_000_000).default(50_000),
    token_burst: count(10_000_000).default(100_000),
    address_requests_per_second: count(1_000_000).default(100),
    address_burst: count(10_000_000).default(300),
    /** Open sockets on /api/events and terminals. */
    sockets_per_token: count(10_000).default(256),
    sockets: count(100_000).default(1_024),
    /** Events that the calls of one token may add to the journal in a day (UTC). */
    journal_events_per_day: count(1_000_000_000).default(2_000_000),
    /** How old a dashboard sign-in may be for an action that gives out rights. */
    fresh_signin_minutes: count(1_440).default(5),
    /** A dashboard session without a request ends after so long; the sign-in itself lasts 30 days. */
    session_idle_days: count(30).default(7),
    /** How long an agent's token lasts unless its maker says otherwise. 0: it does not expire. */
    agent_token_days: z.int().min(0).max(3_650).default(90),
  })
  .refine(({ body_bytes, reading_bytes }) => body_bytes <= reading_bytes / 4, { error: 'expected at most a quarter of reading_bytes', path: ['body_bytes'] })
  .refine(({ body_bytes, json_nodes, token_body_bytes }) => body_bytes + NODE_BYTES * json_nodes <= token_body_bytes, {
    error: `expected at least body_bytes + ${NODE_BYTES} × json_nodes: the largest body must fit`,
    path: ['token_body_bytes'],
  });
export type ServerLimits = z.output<typeof LIMITS>;

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** One schema for flags, environment and `config.toml`; each names a setting in its own way. */
const settings = z.strictObject({
  host: z.string().min(1),
  port,
  database_path: z.string().min(1),
  database_url: z
    .string()
    .regex(/^postgres(ql)?:\/\//, { error: 'expected postgres://…' })
    .optional(),
  log_level: z.enum(LOG_LEVELS),
  tool_timeout_ms: z.coerce
    .number()
    .int()
    .min(1)
    .max(24 * 3_600_000),
  /** Names besides the local ones under which the server may be addressed, for one behind a proxy. */
  allowed_hosts: z.array(z.string().regex(/^([^:/[\]]+|\[[0-9a-f:.]+\])$/i, { error: 'expected names without a port' })),
  /** Origins besides the server's own whose pages may call it. */
  allowed_origins: z.array(z.string().regex(/^https?:\/\/[^/]+$/, { error: 'expected http(s)://host[:port]' })),
  /** Addresses or networks of proxies whose X-Forwarded-For names the caller. */
  trusted_proxies: z.array(z.string().refine(isNetwork, { error: 'expected addresses or networks, such as "10.0.0.5" or "10.0.0.0/8"' })),
  limits: LIMITS,
  /** `manifest`: a JSON file that names the release of the companion which this server offers. `public_key`: the key that signs releases; setup pins it. */
  companion: z.strictObject({
    manifest: z.string().min(1).optional(),
    public_key: z
      .string()
      .regex(/^ed25519:[A-Za-z0-9+/]{43}=$/, { error: 'expected ed25519:… as `covenant companion keygen` prints it' })
      .optional(),
  }),
  /** `embedder`: a model that finds the same work in other words. Without it, words and files alone are compared. */
  overlap: z.strictObject({ embedder: embedder.optional() }),
  /** `deadline_s`: how long a person has to decide on a call whose grant wants approval. */
  approvals: z.strictObject({
    deadline_s: z
      .int()
      .min(5)
      .max(24 * 3_600),
  }),
  /** Agent programs besides those that are known, or instead of them. */
  launchers: z.record(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, { error: 'expected a name of small letters, digits, "-" and "_"' }), launcher),
  /** `max_running`: how many agents this server runs at once, of all workspaces. */
  instances: z.strictObject({ max_running: z.int().min(1).max(1_000) }),
  /** `base_url`: where GitHub's API is, for GitHub Enterprise; `host`: of its repositories, where that is another. The token is in GITHUB_TOKEN alone. */
  github: z.strictObject({
    base_url: z
      .url({ protocol: /^https?$/ })
      // The token goes with every call.
      .refine((url) => url.startsWith('https:') || LOOPBACK.test(new URL(url).hostname), { error: 'expected https://, except on this machine' })
      .optional(),
    host: z
      .string()
      .regex(/^[a-z0-9.-]+$/, { error: 'expected the name of a host, in small letters' })
      .optional(),
  }),
  /** `otlp_endpoint`: of a collector that is told of traces and metrics by OTLP over HTTP. The standard OTEL_ variables beat it. */
  telemetry: z.strictObject({ otlp_endpoint: z.url({ protocol: /^https?$/ }).optional() }),
  /** How often the server anchors each journal, and the private key for it where that is not in the home. */
  anchors: z
    .strictObject({
      every_events: z.int().min(1).max(1_000_000).default(1_000),
      every_minutes: z
        .int()
        .min(1)
        .max(24 * 60)
        .default(10),
      key_file: z.string().refine(isAbsolute, { error: 'expected an absolute path' }).optional(),
    })
    .prefault({}),
  /** `repositories`: the folders under which the server may make and remove git worktrees. Without it, anywhere. */
  machine: z.strictObject({ repositories: z.array(z.string().refine(isAbsolute, { error: 'expected absolute paths' })).optional() }),
});

export type Config = z.output<typeof settings> & { readonly home: string };
export type Flags = Partial<Record<'host' | 'port', string | undefined>>;

const ENVIRONMENT = {
  MCP_SERVER_PORT: 'port',
  MCP_DATABASE_PATH: 'database_path',
  DATABASE_URL: 'database_url',
  MCP_LOG_LEVEL: 'log_level',
  MCP_TOOL_TIMEOUT: 'tool_timeout_ms',
} as const satisfies Record<string, keyof z.output<typeof settings>>;

/** The defaults of all settings. */
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

/** Flags beat the environment, which beats the file, which beats the defaults. */
export function loadConfig(env: NodeJS.ProcessEnv, flags: Flags = {}): Config {
  const home = homeFolder(env);
  const fromFile = checked(join(home, 'config.toml'), readToml(join(home, 'config.toml')));
  const fromEnv: Record<string, unknown> = {};
  for (const [variable, key] of Object.entries(ENVIRONMENT)) {
    if (env[variable]) fromEnv[key] = value(variable, key, env[variable]);
  }
  const fromFlags: Record<string, unknown> = {};
  for (const [flag, given] of Object.entries(flags)) {
    if (given !== undefined) fromFlags[flag] = value(`--${flag}`, flag as keyof z.output<typeof settings>, given);
  }
  const merged = settings.parse({ ...defaultsIn(home), ...fromFile, ...fromEnv, ...fromFlags });
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

function checked(path: string, document: unknown): Partial<z.output<typeof settings>> {
  const result = settings.partial().safeParse(document);
  if (result.success) return result.data;
  const [{ key, message }] = problemsOf(result.error) as [ConfigProblem];
  throw new ConfigError(`${path}: ${key}: ${message}`);
}

export interface ConfigProblem {
  /** As a dotted path. */
  readonly key: string;
  readonly message: string;
}

/** All that is wrong with `config.toml`, where the program itself stops at the first. */
export function configFileProblems(home: string): ConfigProblem[] {
  const result = settings.partial().safeParse(readToml(join(home, 'config.toml')));
  return result.success ? [] : problemsOf(result.error);
}

const problemsOf = (error: z.ZodError): ConfigProblem[] =>
  error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ key: [...issue.path, key].join('.'), message: 'unknown setting' }))
      : [{ key: issue.path.join('.'), message: issue.message }],
  );

function value(source: string, key: keyof z.output<typeof settings>, text: string): unknown {
  const result = settings.shape[key].safeParse(text);
  if (!result.success) throw new ConfigError(`${source}: ${result.error.issues[0]?.message}`);
  return result.data;
}
