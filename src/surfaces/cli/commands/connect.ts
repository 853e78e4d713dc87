import { CLIENT_NAMES, type ClientName } from '../../../clients/client.ts';
import { overHttp } from '../../../features/core/devices/connections.ts';
import type { FileOutcome } from '../../companion/files.ts';
import { PUBLISHED_TOOLSETS, toolsetsNamed } from '../../mcp/toolsets.ts';
import { type AnswerTo, call, requireServer } from '../call.ts';
import { type CliCommand, CliError, type CommandResult, given, type Invocation, UsageError } from '../command.ts';

export const connectCommand: CliCommand = {
  name: 'connect',
  summary: 'Print the command that connects an agent on this machine.',
  description:
    'Creates a token for the agent. Only the printed command shows the token. To connect all agents of a repository, with hooks, run `covibe-local setup` instead.',
  arguments: [{ name: 'AGENT', description: 'The agent program.', choices: CLIENT_NAMES }],
  options: {
    developer: { value: 'NAME', description: 'The developer who owns the token.', default: 'the first admin' },
    toolsets: { value: 'LIST', description: 'The toolsets that the agent gets, such as team+workflow or all.', default: 'the toolsets of its token' },
    write: {
      description:
        'Write the connection into the configuration file of the agent in this repository, and print the command that sets the token as an environment variable.',
    },
  },
  examples: ['connect claude-code', 'connect codex --toolsets team+workflow'],
  async run(invocation) {
    const name = invocation.positionals[0] as ClientName;
    if (!CLIENT_NAMES.includes(name)) throw new UsageError(`\`AGENT\` must be one of ${CLIENT_NAMES.join(', ')}, not ${JSON.stringify(name)}`);
    const { toolsets } = given(invocation, 'toolsets');
    if (toolsets !== undefined && !toolsetsNamed(toolsets))
      throw new UsageError(`\`--toolsets\` must be all, or some of ${PUBLISHED_TOOLSETS.join('+')}, not ${JSON.stringify(toolsets)}`);
    const isWritten = invocation.values.write === true;
    if (isWritten && toolsets !== undefined)
      throw new UsageError('`--toolsets` does not go with `--write`: set COVIBE_TOOLSETS in the environment of the agent instead');
    const url = await requireServer(invocation);
    const write = isWritten ? await planConnection(invocation, name, url) : undefined;
    const developer = given(invocation, 'developer').developer ?? (await firstDeveloperName(invocation));
    const created = await call(invocation, 'tokens.create', { developer, agent: name });
    if (write) return writtenConnection(invocation, name, write(), created);
    const { text: command, where } = overHttp(name, `${url}/mcp${toolsets === undefined ? '' : `/${toolsets}`}`, created.token);
    if (!invocation.json) invocation.out.note(`${where} (token ${created.token_id}, shown only once):`);
    return { json: { kind: 'connection', client: name, command, where, token_id: created.token_id }, text: command };
  },
};

/** Plans the entry for the bridge in the client's configuration file. Returns a function that writes it. The file never contains the token. */
async function planConnection({ env, cwd }: Invocation, client: ClientName, origin: string): Promise<() => readonly FileOutcome[]> {
  const [{ requireRepository }, { applySetup, planSetup }, { setUpAt }] = await Promise.all([
    import('../../companion/command.ts'),
    import('../../companion/files.ts'),
    import('../../companion/state.ts'),
  ]);
  const { root } = requireRepository(cwd);
  if (setUpAt(env, root)?.clients.includes(client))
    throw new CliError('SET_UP_ALREADY', `covibe-local setup has already set up ${client} here. Nothing was changed.`, 'covibe-local doctor');
  const planned = planSetup({ env, root, origin, hooks: 'command', clients: [client], only: 'server entry', now: Date.now() });
  return () => applySetup(planned).flatMap(({ files }) => files);
}

/** The printed text is a shell command, so that a person can run: eval "$(covenant connect codex --write)". */
function writtenConnection(
  { json, out }: Invocation,
  client: ClientName,
  files: readonly FileOutcome[],
  { token, token_id }: AnswerTo<'tokens.create'>,
): CommandResult {
  const command = `export COVIBE_MCP_TOKEN=${token}`;
  const where = files.map(({ shown }) => shown).join(', ');
  if (!json) out.note(`${out.mark.good} ${where}\nRun this in the shell that starts ${client} (token ${token_id}, shown only once):`);
  return { json: { kind: 'connection', client, command, where, token_id, files }, text: command };
}

async function firstDeveloperName(invocation: Invocation): Promise<string> {
  const { items } = await call(invocation, 'developers.list');
  const name = items.find((developer) => developer.role === 'admin')?.name;
  if (!name || name === '@private') throw new UsageError('`--developer` is missing, for example --developer mira');
  return name;
}
