import { CLIENT_NAMES, type ClientName } from '../../../clients/client.ts';
import { overHttp } from '../../../features/core/devices/connections.ts';
import type { FileOutcome } from '../../companion/files.ts';
import { PUBLISHED_TOOLSETS, toolsetsNamed } from '../../mcp/toolsets.ts';
import { type AnswerTo, call } from '../call.ts';
import { type CliCommand, CliError, type CommandResult, given, type Invocation, UsageError } from '../command.ts';
import { requireServer } from './open.ts';

export const connectCommand: CliCommand = {
  name: 'connect',
  summary:
    'Print the line that connects an agent on this machine, with a fresh token of its own. --toolsets team+workflow serves it more tools than the default; --write puts it into the file that the agent reads in this repository.',
  positionals: [CLIENT_NAMES.join('|')],
  options: { developer: { type: 'string' }, toolsets: { type: 'string' }, write: { type: 'boolean' } },
  async run(invocation) {
    const name = invocation.positionals[0] as ClientName;
    if (!CLIENT_NAMES.includes(name)) throw new UsageError(`there is no client ${JSON.stringify(name)}: expected ${CLIENT_NAMES.join(', ')}`);
    const { toolsets } = given(invocation, 'toolsets');
    if (toolsets !== undefined && !toolsetsNamed(toolsets))
      throw new UsageError(`there are no toolsets ${JSON.stringify(toolsets)}: expected ${PUBLISHED_TOOLSETS.join('+')}, some of them, or all`);
    const isWritten = invocation.values.write === true;
    if (isWritten && toolsets !== undefined) throw new UsageError('--toolsets goes without --write: the bridge takes them from COVIBE_TOOLSETS');
    const url = await requireServer(invocation);
    const write = isWritten ? await planConnection(invocation, name, url) : undefined;
    const developer = given(invocation, 'developer').developer ?? (await firstDeveloperName(invocation));
    const created = await call(invocation, 'tokens.create', { developer, agent: name });
    if (write) return writtenConnection(invocation, name, write(), created);
    const { text: command, where } = overHttp(name, `${url}/mcp${toolsets === undefined ? '' : `/${toolsets}`}`, created.token);
    if (!invocation.json) invocation.out.note(`${where} (token ${created.token_id}, shown this once):`);
    return { json: { kind: 'connection', client: name, command, where, token_id: created.token_id }, text: command };
  },
};

/**
 * Plans the bridge's entry in the client's own file. Returns the function that writes it. The token goes into no file, only into the client's
 * environment.
 */
async function planConnection({ env, cwd }: Invocation, client: ClientName, origin: string): Promise<() => readonly FileOutcome[]> {
  const [{ requireRepository }, { applySetup, planSetup }, { setUpAt }] = await Promise.all([
    import('../../companion/command.ts'),
    import('../../companion/files.ts'),
    import('../../companion/state.ts'),
  ]);
  const { root } = requireRepository(cwd);
  if (setUpAt(env, root)?.clients.includes(client))
    throw new CliError('SET_UP_ALREADY', `${client} has been set up here by covibe-local setup. Nothing was changed.`, 'covibe-local doctor');
  const planned = planSetup({ env, root, origin, hooks: 'command', clients: [client], only: 'server entry', now: Date.now() });
  return () => applySetup(planned).flatMap(({ files }) => files);
}

/** The output can be run as it is: eval "$(covenant connect codex --write)". */
function writtenConnection(
  { json, out }: Invocation,
  client: ClientName,
  files: readonly FileOutcome[],
  { token, token_id }: AnswerTo<'tokens.create'>,
): CommandResult {
  const command = `export COVIBE_MCP_TOKEN=${token}`;
  const where = files.map(({ shown }) => shown).join(', ');
  if (!json) out.note(`${out.mark.good} ${where}\nRun this where ${client} is started (token ${token_id}, shown this once):`);
  return { json: { kind: 'connection', client, command, where, token_id, files }, text: command };
}

async function firstDeveloperName(invocation: Invocation): Promise<string> {
  const { items } = await call(invocation, 'developers.list');
  const name = items.find((developer) => developer.role === 'admin')?.name;
  if (!name || name === '@private') throw new UsageError('--developer NAME is needed');
  return name;
}
