/** What people use instead, in the versions below: installed once, from the registry that npm is set to, beside the project and never into it. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, platform } from 'node:os';
import { join } from 'node:path';

export const PEERS = {
  'task-master-ai': '0.43.1',
  'pg-boss': '12.35.0',
  'mcp-proxy': '6.7.19',
} as const;
export type Peer = keyof typeof PEERS;

/** An install that hangs must not hold up the run. */
const INSTALL_MS = 10 * 60_000;

export const titleOf = (peer: Peer): string => `${peer} ${PEERS[peer]}`;

export class PeerMissing extends Error {}

/** The folder of the peer's package. `COVENANT_PEERS` names a folder with a `node_modules` that has it. */
export function peerFolder(peer: Peer): string {
  const named = process.env.COVENANT_PEERS;
  const folder = named || join(cacheFolder(), 'covenant-peers', `${peer}-${PEERS[peer]}`);
  const place = join(folder, 'node_modules', peer);
  if (versionIn(place) === PEERS[peer]) return place;
  if (named) throw new PeerMissing(`${folder} (COVENANT_PEERS) does not have ${titleOf(peer)}: install it there, or unset COVENANT_PEERS`);
  install(peer, folder);
  return place;
}

function versionIn(place: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** Beside its place first: what lies there is whole. Each in a folder of its own, so that one that cannot be had takes no other with it. */
function install(peer: Peer, folder: string): void {
  const beside = `${folder}.${process.pid}`;
  mkdirSync(beside, { recursive: true });
  try {
    writeFileSync(join(beside, 'package.json'), JSON.stringify({ private: true, dependencies: { [peer]: PEERS[peer] } }));
    // None of them needs its install scripts, nor what is optional, for what is measured.
    const args = ['install', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status, stderr, error } = spawnSync('npm', args, { cwd: beside, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'], timeout: INSTALL_MS });
    if (status !== 0) throw new PeerMissing(`npm could not install ${titleOf(peer)}: ${error?.message ?? firstReason(stderr)}`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(beside, folder);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

const firstReason = (stderr: string): string =>
  stderr
    .split('\n')
    .map((line) => line.replace(/^npm error\s*/, '').trim())
    .find((line) => line.includes(' ') && !line.startsWith('code ')) ?? 'no reason given';

function cacheFolder(): string {
  if (process.env.XDG_CACHE_HOME) return process.env.XDG_CACHE_HOME;
  return platform() === 'darwin' ? join(homedir(), 'Library/Caches') : join(homedir(), '.cache');
}

/** What a peer gives, or why it could not: its trouble is a line in the table, not the end of the run. */
export async function withPeer<T>(peer: Peer, measure: (folder: string) => Promise<T>): Promise<{ name: string; value: T } | { name: string; error: string }> {
  try {
    return { name: titleOf(peer), value: await measure(peerFolder(peer)) };
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
    return { name: titleOf(peer), error: line.slice(0, 300) };
  }
}
