/** Comparable products, in the versions below. */
import { join } from 'node:path';
import { cacheFolder, installInto, isInstalled } from '../../scripts/install.ts';

export const PEERS = {
  'task-master-ai': '0.43.1',
  'pg-boss': '12.35.0',
  'mcp-proxy': '6.7.19',
} as const;
export type Peer = keyof typeof PEERS;

/** Returns the result of a peer (a comparable product), or the reason why there is none. If a peer fails, its row shows the reason, and the run continues. */
export async function withPeer<T>(peer: Peer, measure: (folder: string) => Promise<T>): Promise<{ name: string; value: T } | { name: string; error: string }> {
  const name = `${peer} ${PEERS[peer]}`;
  try {
    return { name, value: await measure(peerFolder(peer, name)) };
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
    return { name, error: line.slice(0, 300) };
  }
}

/**
 * Returns the folder of the peer's package. If `COVENANT_PEERS` is set, the package must be in the `node_modules` of that folder. Otherwise each peer is
 * installed into its own folder, so that one that cannot be installed does not affect the others.
 */
function peerFolder(peer: Peer, name: string): string {
  const named = process.env.COVENANT_PEERS;
  const folder = named || join(cacheFolder(), 'covenant-peers', `${peer}-${PEERS[peer]}`);
  if (!isInstalled(folder, peer, PEERS[peer])) {
    if (named) throw new Error(`${folder} (COVENANT_PEERS) does not have ${name}: install it there, or unset COVENANT_PEERS`);
    // The measured functions need neither install scripts nor optional dependencies.
    install(folder, peer, name);
  }
  return join(folder, 'node_modules', peer);
}

function install(folder: string, peer: Peer, name: string): void {
  try {
    installInto(folder, { [peer]: PEERS[peer] });
  } catch (error) {
    throw new Error(`npm could not install ${name}: ${(error as Error).message}`);
  }
}
