import { CLIENT_NAMES } from '../../../clients/client.ts';
import type { Principal } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { findRows, matching } from '../../../storage/rows.ts';
import { installCommand, overHttp, overStdio, setupBlock, watchCommand } from './connections.ts';
import { agentSetup } from './contract.ts';

/** `packageRoot`: the folder of this package, from which the companion can be installed. */
export const agentSetupTool = (packageRoot: string): Implementation =>
  implement(agentSetup, {
    read: async ({ base_url, cwd }, { reader, principal }) => ok(await setupFor(reader, principal, { baseUrl: base_url, cwd, packageRoot })),
  });

const PLACEHOLDER = 'YOUR_TOKEN';
const UNKNOWN_FOLDER = '/path/to/your/repository';
const MAX_REPOSITORIES = 50;

interface SetupTarget {
  readonly baseUrl: string;
  readonly cwd: string | undefined;
  readonly packageRoot: string;
}

async function setupFor(db: Db, principal: Principal, { baseUrl, cwd: given, packageRoot }: SetupTarget): Promise<Output<typeof agentSetup>> {
  const repositories = await knownFolders(db, principal);
  const cwd = given ?? repositories[0] ?? UNKNOWN_FOLDER;
  const place = { baseUrl, cwd };
  return {
    placeholder: PLACEHOLDER,
    cwd,
    cwd_known: cwd !== UNKNOWN_FOLDER,
    repositories,
    clients: CLIENT_NAMES.map((client) => ({ client, http: overHttp(client, `${baseUrl}/mcp`, PLACEHOLDER), stdio: overStdio(client, place) })),
    install: installCommand(packageRoot),
    block: setupBlock(place, packageRoot),
    watch: watchCommand(baseUrl),
  };
}

/** Folders reported by the developer's own machines come first. Other people's folders are rarely useful. */
async function knownFolders(db: Db, { workspace, developerId }: Principal): Promise<string[]> {
  const own = await matching(db, 'registered_repos', { workspace_id: workspace, developer_id: developerId ?? '', path: { '!=': null } })
    .select('path')
    .distinct()
    .orderBy('path')
    .limit(MAX_REPOSITORIES)
    .execute();
  const others = await findRows(db, 'repositories', { workspace_id: workspace }, { order: { updated_at: 'desc' }, limit: MAX_REPOSITORIES });
  return [...new Set([...own, ...others].flatMap(({ path }) => path ?? []))].slice(0, MAX_REPOSITORIES);
}
