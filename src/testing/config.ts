import type { Config } from '../config.ts';

/** A launcher whose agent does nothing, for as long as it is let. */
export const SLEEPER: Config['launchers'][string] = { command: 'sleep', args: ['86400'], env: {}, pass_env: [], prompt: 'file' };

/** As `config.toml` would give it, on a database of the test's own. Loads nothing of the test runner: processes that a test starts use it too. */
export const testConfig = ({ home, path, url }: { home: string; path: string; url?: string | undefined }, own: Partial<Config> = {}): Config => ({
  home,
  host: '127.0.0.1',
  port: 0,
  database_path: path,
  database_url: url,
  log_level: 'debug',
  tool_timeout_ms: 30_000,
  allowed_hosts: [],
  allowed_origins: [],
  companion: {},
  overlap: {},
  approvals: { deadline_s: 600 },
  launchers: {},
  instances: { max_running: 20 },
  github: {},
  machine: {},
  ...own,
});
