import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../../../version.ts';
import { httpRequest } from '../../../../wire/http-client.ts';
import { call } from '../../call.ts';
import { readRunFile } from '../../home.ts';
import { counted, escapeInvisible } from '../../output.ts';
import { check } from './check.ts';

export const WAIT_MS = 3_000;

/** Checks whether the server answers. A stopped server is not a fault, but a running server that does not answer is a fault. */
export const server = check(
  'server',
  ['ALREADY_RUNNING', 'SERVER_UNHEALTHY', 'SERVER_HUNG', 'RUN_FILE_STALE', 'OTHER_VERSION', 'OUTCOME_UNKNOWN'],
  async (say, { home, server: running }) => {
    const run = running ?? readRunFile(home);
    if (!run) return say.skipped('no server of this home is running');
    const answer = await healthOf(run.url);
    if (answer === 'hung')
      return say.failed(
        'SERVER_HUNG',
        `process ${run.pid} at ${run.url} does not answer`,
        `kill ${run.pid} (kill -9 ${run.pid} if it stays), then covenant up`,
      );
    if (answer === undefined || answer.instance !== run.instance)
      return say.warning(
        'RUN_FILE_STALE',
        `server.json names a server at ${run.url} that no longer runs: it was killed, or the machine crashed`,
        'covenant up (replaces the file)',
      );
    if (answer.status !== 'ok') {
      const failing = Object.entries(answer.checks).flatMap(([name, state]) => (state === 'ok' ? [] : [`${name} ${state}`]));
      return say.failed(
        'SERVER_UNHEALTHY',
        `${run.url} is not healthy: ${failing.join(', ')}`,
        'fix the other problems in this report, and read the log of the server; restore a backup if the schema is damaged',
      );
    }
    if (answer.version !== VERSION)
      return say.warning(
        'OTHER_VERSION',
        `the server at ${run.url} has version ${answer.version}, and this program has version ${VERSION}`,
        'stop the server, then run covenant up',
      );
    return say.ok(`serving at ${run.url}`);
  },
);

interface HealthAnswer {
  readonly instance: string | undefined;
  readonly status: string;
  readonly version: string;
  readonly checks: Readonly<Record<string, string>>;
}

/** Returns undefined if nothing answers or if the answer is not JSON. */
export async function healthOf(url: string): Promise<HealthAnswer | 'hung' | undefined> {
  const signal = AbortSignal.timeout(WAIT_MS);
  try {
    const { text } = await httpRequest(`${url}/api/health`, { method: 'GET', signal });
    const { instance, status, version, checks } = JSON.parse(text) as Partial<HealthAnswer>;
    return { instance, status: String(status), version: String(version), checks: checks ?? {} };
  } catch {
    return signal.aborted ? 'hung' : undefined;
  }
}

/** Whether this account can read the file. If it cannot, the suggested fix must not be `chmod 600`, which only keeps others from reading. */
function canRead(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}

/** Checks that secrets.toml is valid and that others cannot read it. Also reports external servers that are failing. */
export const externalServers = check('servers', ['SECRETS_INVALID', 'EXTERNAL_SERVER_FAILING'], async (say, place) => {
  const { readEntries } = await import('../../../../features/gateway/servers/index.ts');
  const { env, home, invocation, server: running } = place;
  const file = join(home, 'secrets.toml');
  const { entries, problems } = readEntries(file, { env, home, toolTimeoutMs: 1 });
  const findings = problems.map(({ line, server: name, message }) =>
    say.failed(
      'SECRETS_INVALID',
      line === null ? message : `${file}:${line}: ${name === null ? '' : `${name}: `}${message}`,
      line !== null
        ? 'correct that line; a running server reads the file again by itself'
        : canRead(file)
          ? `chmod 600 ${file}`
          : `make ${file} a regular file that the account of the server can read`,
    ),
  );
  if (running && entries.length > 0) {
    const { items } = await call(invocation, 'servers.list');
    for (const { name, problem } of items)
      if (problem !== null)
        findings.push(
          say.warning(
            'EXTERNAL_SERVER_FAILING',
            `${name}: ${escapeInvisible(problem)}`,
            `covenant servers logs ${name}, then covenant servers restart ${name}`,
          ),
        );
  }
  return findings.length > 0 ? findings : say.ok(`${file} has ${counted(entries.length, 'external server')}`);
});
