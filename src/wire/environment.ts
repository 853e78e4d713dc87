/**
 * The environment variables that the three programs read. src/clients/environment.ts lists the variables of agent programs.
 * docs/configuration.md is generated from both files, and a test compares them with the source code.
 */

type Program = 'covenant' | 'covibe-local' | 'covibe-mcp';

export interface EnvironmentVariable {
  readonly name: string;
  readonly programs: readonly Program[];
  /** The default as a text for the documentation. Null: no default. */
  readonly default: string | null;
  readonly meaning: string;
}

const variable = (name: string, programs: readonly Program[], fallback: string | null, meaning: string): EnvironmentVariable => ({
  name,
  programs,
  default: fallback,
  meaning,
});

const SERVER: readonly Program[] = ['covenant'];
const COMPANION: readonly Program[] = ['covibe-local'];
const BRIDGE: readonly Program[] = ['covibe-mcp'];
const CLIENT_SIDE: readonly Program[] = ['covibe-local', 'covibe-mcp'];
const ALL: readonly Program[] = ['covenant', 'covibe-local', 'covibe-mcp'];

export const ENVIRONMENT_VARIABLES: Readonly<Record<string, readonly EnvironmentVariable[]>> = {
  'Server and CLI': [
    variable('COVENANT_HOME', SERVER, '`~/.covenant`', "The server's home: the folder with its configuration, credentials and data."),
    variable('MCP_SERVER_PORT', SERVER, '`3001`', 'Overrides the setting `port`.'),
    variable('MCP_DATABASE_PATH', SERVER, '`covenant.db` in the home', 'Overrides the setting `database_path`.'),
    variable('DATABASE_URL', SERVER, null, 'Overrides the setting `database_url`.'),
    variable('MCP_LOG_LEVEL', SERVER, '`info`', 'Overrides the setting `log_level`.'),
    variable('MCP_TOOL_TIMEOUT', SERVER, '`30000`', 'Overrides the setting `tool_timeout_ms`.'),
    variable(
      'GITHUB_TOKEN',
      SERVER,
      null,
      'The GitHub token for pull requests, issues and pushes over https. It can be set only in this variable, not in config.toml.',
    ),
  ],
  'Bridge and companion': [
    variable(
      'COVIBE_BASE_URL',
      CLIENT_SIDE,
      '`http://127.0.0.1:3001`',
      'The address of the server. In the companion, `--base-url` takes precedence. If neither is set, the companion uses the server from its last setup.',
    ),
    variable('COVIBE_MCP_TOKEN', CLIENT_SIDE, null, 'The token for all agents. It takes precedence over stored tokens and is never written to a file.'),
    variable('COVIBE_AGENT', CLIENT_SIDE, "the client's name", 'The agent whose stored token is used, such as `codex`.'),
    variable('COVIBE_TOOLSETS', BRIDGE, "the token's tools", 'The toolsets that the agent gets, joined by `+`, such as `team+workflow`, or `all`.'),
    variable('COVIBE_TIMEOUT_MS', BRIDGE, '`35000`', 'Milliseconds that a call may take, from 1 to 2147483647.'),
    variable('COVIBE_SELF_UPDATE', COMPANION, null, 'If it is `1`, `covibe-local watch` installs the companion releases that the server offers.'),
  ],
  OpenTelemetry: [
    variable('OTEL_SDK_DISABLED', SERVER, null, 'If it is `true`, the server sends neither traces nor metrics.'),
    variable('OTEL_EXPORTER_OTLP_ENDPOINT', SERVER, '`telemetry.otlp_endpoint`', 'The collector for traces and metrics.'),
    variable('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', SERVER, null, 'The collector for traces.'),
    variable('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', SERVER, null, 'The collector for metrics.'),
    variable(
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      SERVER,
      null,
      'The protocol for the collector. `grpc` is not supported: with this value, the server sends nothing.',
    ),
    variable('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', SERVER, null, 'Like `OTEL_EXPORTER_OTLP_PROTOCOL`, for traces only.'),
    variable('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', SERVER, null, 'Like `OTEL_EXPORTER_OTLP_PROTOCOL`, for metrics only.'),
    variable('OTEL_TRACES_EXPORTER', SERVER, '`otlp`', 'With any value other than `otlp`, the server sends no traces.'),
    variable('OTEL_METRICS_EXPORTER', SERVER, '`otlp`', 'With any value other than `otlp`, the server sends no metrics.'),
  ],
  'Git hooks': [
    variable('GIT_DIR', COMPANION, null, 'Set by git: the repository of the commit or push that the commit guard checks.'),
    variable('GIT_WORK_TREE', COMPANION, null, 'Set by git: the working tree of that repository.'),
    variable('GIT_INDEX_FILE', COMPANION, null, 'Set by git: the index of the commit that the commit guard checks.'),
  ],
  System: [
    variable('HOME', ALL, "the system's home folder", 'Your home folder.'),
    variable('PATH', ALL, null, 'Where programs such as git, tmux and npm are looked up.'),
    variable('PATHEXT', ALL, '`.EXE;.CMD;.BAT`', 'The file endings of programs on Windows.'),
    variable('LANG', ALL, null, 'If the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set contains `UTF-8`, the output may contain symbols.'),
    variable('LC_ALL', ALL, null, 'See `LANG`.'),
    variable('LC_CTYPE', ALL, null, 'See `LANG`.'),
    variable('TERM', ALL, null, 'If it is `dumb`, the output has no colours and no progress bar.'),
    variable('NO_COLOR', ALL, null, 'If it has any value, the output has no colours.'),
    variable('SSH_AUTH_SOCK', SERVER, null, 'Passed on to git.'),
    variable('HTTPS_PROXY', SERVER, null, 'Passed on to git.'),
    variable('NO_PROXY', SERVER, null, 'Passed on to git.'),
    variable('GIT_CONFIG_GLOBAL', SERVER, '`~/.gitconfig`', 'Your git configuration file. Covenant uses only harmless settings from it, such as `http.proxy`.'),
    variable('DISPLAY', SERVER, null, 'On Linux, Covenant can open a browser only if `DISPLAY` or `WAYLAND_DISPLAY` is set.'),
    variable('WAYLAND_DISPLAY', SERVER, null, 'See `DISPLAY`.'),
  ],
  'Set by Covenant': [
    variable('COVENANT_INSTANCE_ID', SERVER, null, 'The instance id, in the environment of an agent that the server started.'),
    variable('DEMO_URL', SERVER, null, 'The address of the server, in the environment of the agents of `covenant demo`.'),
    variable('DEMO_TOKEN', SERVER, null, 'The token of an agent of `covenant demo`.'),
    variable('DEMO_TASK', SERVER, null, 'The task of an agent of `covenant demo`.'),
    variable('NODE_ENV', SERVER, null, '`test` enables `COVENANT_TEST_CLOCK`.'),
    variable('COVENANT_TEST_CLOCK', SERVER, null, 'For tests only: a file that contains the time for the server. Ignored outside of tests.'),
  ],
};
