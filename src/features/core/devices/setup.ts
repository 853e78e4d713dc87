import type { Principal } from '../../../kernel/context.ts';
import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { CLIENTS, installCommand, overHttp, overStdio, setupBlock, watchCommand } from './connections.ts';
import type { agentSetup } from './contract.ts';

const PLACEHOLDER = 'YOUR_TOKEN';
const UNKNOWN_FOLDER = '/path/to/your/repository';
const MOST_REPOSITORIES = 50;

interface Wanted {
  readonly baseUrl: string;
  readonly cwd: string | undefined;
  readonly packageRoot: string;
}

export async function setupFor(db: Db, principal: Principal, { baseUrl, cwd: given, packageRoot }: Wanted): Promise<Output<typeof agentSetup>> {
  const repositories = await knownFolders(db, principal);
  const cwd = given ?? repositories[0] ?? UNKNOWN_FOLDER;
  const place = { baseUrl, cwd };
  return {
    placeholder: PLACEHOLDER,
    cwd,
    cwd_known: cwd !== UNKNOWN_FOLDER,
    repositories,
    clients: CLIENTS.map((client) => ({ client, http: overHttp(client, `${baseUrl}/mcp`, PLACEHOLDER), stdio: overStdio(client, place) })),
    install: installCommand(packageRoot),
    block: setupBlock(place, packageRoot),
    watch: watchCommand(baseUrl),
  };
}

/** Those that the developer's own machines reported first: where somebody else keeps theirs is of no use. */
async function knownFolders(db: Db, { workspace, developerId }: Principal): Promise<string[]> {
  const own = await db
    .selectFrom('registered_repos')
    .select('path')
    .distinct()
    .where('workspace_id', '=', workspace)
    .where('developer_id', '=', developerId ?? '')
    .where('path', 'is not', null)
    .orderBy('path')
    .limit(MOST_REPOSITORIES)
    .execute();
  const registered = db.selectFrom('repositories').select('path').where('workspace_id', '=', workspace);
  const others = await registered.orderBy('updated_at', 'desc').limit(MOST_REPOSITORIES).execute();
  return [...new Set([...own, ...others].flatMap(({ path }) => path ?? []))].slice(0, MOST_REPOSITORIES);
}
