import { type Config, defaultsIn } from '../config.ts';

/** A launcher that starts an agent which does nothing until it is stopped. */
export const SLEEPER: Config['launchers'][string] = { command: 'sleep', args: ['86400'], env: {}, pass_env: [], prompt: 'file' };

/**
 * Returns the configuration that the server would read from `config.toml`, with the test's own database. This file does not import the test runner, because
 * child processes of tests use it too.
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
