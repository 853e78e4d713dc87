import type { ClientName } from '../../../clients/client.ts';
import { requireRepository } from '../../companion/command.ts';
import { applySetup, type FileOutcome, planSetup } from '../../companion/files.ts';
import { setUpAt } from '../../companion/setup/setups.ts';
import { CliError, type Invocation } from '../command.ts';

/**
 * The bridge among the servers of a client, in the client's own file: read and checked now, written by the function that is returned. The
 * token goes into no file: the client's environment has it.
 */
export function planConnection({ env, cwd }: Invocation, client: ClientName, origin: string): () => readonly FileOutcome[] {
  const { root } = requireRepository(cwd);
  if (setUpAt(env, root)?.clients.includes(client))
    throw new CliError('SET_UP_ALREADY', `${client} has been set up here by covibe-local setup. Nothing was changed.`, 'covibe-local doctor');
  const planned = planSetup({ env, root, origin, hooks: 'command', clients: [client], only: 'server entry', now: Date.now() });
  return () => applySetup(planned).flatMap(({ files }) => files);
}
