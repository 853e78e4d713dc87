import { type DoctorCheck, type DoctorContext, type DoctorFinding, runCheck } from './check.ts';
import { backups, config, home, leftovers } from './home.ts';
import { agents, disk, git, node, repositories, tmux } from './machine.ts';
import { port, proxy, telemetry } from './network.ts';
import { externalServers, server } from './server.ts';
import { clock, credentials, database, journal, postgres, tokens } from './store.ts';

export { doctorContext } from './check.ts';

/** These checks only read files and open connections. They change nothing. */
const OUTSIDE: readonly DoctorCheck[] = [
  node,
  git,
  tmux,
  home,
  config,
  disk,
  database,
  postgres,
  backups,
  leftovers,
  repositories,
  server,
  port,
  proxy,
  telemetry,
];

/** These checks ask the server, or open the database if none is running. They run one after the other, through one client. */
const INSIDE: readonly DoctorCheck[] = [credentials, tokens, externalServers, journal, clock, agents];

export const CHECKS: readonly DoctorCheck[] = [...OUTSIDE, ...INSIDE];

export async function allFindings(place: DoctorContext): Promise<DoctorFinding[]> {
  const findings = (await Promise.all(OUTSIDE.map((each) => runCheck(each, place)))).flat();
  let closed = whyStoreIsClosed(place, findings);
  for (const each of INSIDE) {
    const found = await checkInside(each, place, closed);
    findings.push(...found);
    if (each === credentials && found.some(({ state }) => state === 'failed' || state === 'warning')) closed ??= 'the operator could not be authenticated';
  }
  return findings;
}

async function checkInside(each: DoctorCheck, place: DoctorContext, closed: string | undefined): Promise<DoctorFinding[]> {
  // The check of external servers always runs, because it only reads a file. With --fix, the check of agents always runs too, so that it can report why it
  // removed nothing.
  if (each === externalServers) return await runCheck(each, closed === undefined ? place : { ...place, server: undefined });
  if (each === agents && place.invocation.values.fix === true) return await agents.look(place);
  return closed === undefined ? await runCheck(each, place) : [{ check: each.id, state: 'skipped', message: `not checked (${each.id}): ${closed}` }];
}

/** Returns the reason why the checks must not open the database. Opening the database could create it, migrate it or bypass a running server. */
function whyStoreIsClosed({ server: running, config: settings }: DoctorContext, findings: readonly DoctorFinding[]): string | undefined {
  if (running) return undefined;
  if (!settings) return 'the configuration is invalid';
  const hung = findings.find(({ check, state }) => check === server.id && state === 'failed');
  if (hung) return hung.message;
  const engine = settings.database_url ? postgres.id : database.id;
  return findings.find(({ check, state }) => check === engine && (state === 'failed' || state === 'skipped'))?.message;
}
