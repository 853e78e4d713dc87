import { type Config, defaultsIn } from '../config.ts';

/** A launcher whose agent does nothing until it is stopped. */
export const SLEEPER: Config['launchers'][string] = { command: 'sleep', args: ['86400'], env: {}, pass_env: [], prompt: 'file' };

/**
 * The configuration that `config.toml` would give, on the test's own database. Does not import the test runner, because child processes of
 * tests use this file too.
 */
export const testConfig = ({ home, path, url }: { home: string; path: string; url?: string | undefined }, own: Partial<Config> = {}): Config => ({
  ...defaultsIn(home),
  home,
  port: 0,
  database_path: path,
  database_url: url,
  log_level: 'debug',
  ...own,
});
