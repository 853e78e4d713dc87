import { placeOf } from '../../../machine/git/place.ts';
import { VERSION } from '../../../version.ts';
import { callTool } from '../server.ts';
import { presentRepos } from '../state.ts';
import { offerIn, type UpdateOffer } from '../update/offer.ts';
import { REFUSED_TOKEN_PROBLEM } from './tokens.ts';

interface HeartbeatResult {
  readonly repos: number;
  readonly offer?: UpdateOffer | undefined;
  readonly problem?: string;
}

/** The maximum length of a path. The server rejects longer paths. */
const LONGEST_PATH = 500;

/** Reports that the machine is alive, and which repositories it has. */
export async function sendHeartbeat(env: NodeJS.ProcessEnv, origin: string, token: string): Promise<HeartbeatResult> {
  const repos = presentRepos(env).map(({ path, repo }) => {
    const place = placeOf(path);
    return { repo: place?.repo ?? repo, ...(path.length <= LONGEST_PATH ? { path } : {}), branch: place?.branch?.slice(0, 300) };
  });
  const asked = await callTool(origin, token, 'covibe_session', { operation: 'heartbeat', companion_version: VERSION, registered_repos: repos });
  if ('unreachable' in asked) return { repos: repos.length, problem: `server unreachable (${asked.unreachable})` };
  if (asked.status === 401) return { repos: repos.length, problem: REFUSED_TOKEN_PROBLEM };
  const { status, data } = asked.body as { status?: unknown; data?: Record<string, unknown> };
  if (status !== 'ok') return { repos: repos.length, problem: `the server does not accept heartbeats now (${String(data?.code ?? asked.status)})` };
  return { repos: repos.length, offer: offerIn(data?.companion) };
}
