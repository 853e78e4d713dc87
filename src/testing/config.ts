import { type Config, defaultsIn } from '../config.ts';

/** A launcher whose agent does nothing, for as long as it is let. */
export const SLEEPER: Config['launchers'][string] = { command: 'sleep', args: ['86400'], env: {}, pass_env: [], prompt: 'file' };

/** As `config.toml` would give it, on a database of the test's own. Loads nothing of the test runner: processes that a test starts use it too. */
export const testConfig = ({ home, path, url }: { home: string; path: string; url?: string | undefined }, own: Partial<Config> = {}): Config => ({
  ...defaultsIn(home),
  home,
  port: 0,
  database_path: path,
  database_url: url,
  log_level: 'debug',
  ...own,
});
