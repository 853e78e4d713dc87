import { CLIENT_NAMES, type ClientName } from '../../../clients/client.ts';
import { overHttp } from '../../../features/core/devices/connections.ts';
import type { FileOutcome } from '../../companion/files.ts';
import { PUBLISHED, toolsetsNamed } from '../../mcp/toolsets.ts';
import type { Client } from '../client.ts';
import { type CliCommand, CliError, type CommandResult, given, type Invocation, UsageError } from '../command.ts';
import { statusCommand } from './status.ts';

export const serverCommands: readonly CliCommand[] = [
  {
    name: 'open',
    summary: 'Print a fresh sign-in link for the dashboard, or for the page of what has this id. It works once.',
    positionals: ['[ID]'],
    options: { developer: { type: 'string' } },
    async run(invocation) {
      const client = await invocation.client();
      const base = requireServer(client.url);
      const [id] = invocation.positionals;
      const to = id === undefined ? '' : `?to=${encodeURIComponent(await pageOf(client, id))}`;
      const link = await client.action('signin.link', given(invocation, 'developer'));
      const url = `${base}${link.path}${to}`;
      return { json: { kind: 'signin_link', url, developer: link.developer, expires_at: link.expires_at }, text: url };
    },
  },
  {
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
        throw new UsageError(`there are no toolsets ${JSON.stringify(toolsets)}: expected ${PUBLISHED.join('+')}, some of them, or all`);
      const isWritten = invocation.values.write === true;
      if (isWritten && toolsets !== undefined) throw new UsageError('--toolsets goes without --write: the bridge takes them from COVIBE_TOOLSETS');
      const client = await invocation.client();
      const url = requireServer(client.url);
      const write = isWritten ? (await import('./connect-write.ts')).planConnection(invocation, name, url) : undefined;
      const developer = given(invocation, 'developer').developer ?? (await firstDeveloperName(invocation));
      const created = await client.action('tokens.create', { developer, agent: name });
      if (write) return written(invocation, name, write(), created);
      const { text: command, where } = overHttp(name, `${url}/mcp${toolsets === undefined ? '' : `/${toolsets}`}`, String(created.token));
      if (!invocation.json) invocation.out.note(`${where} (token ${created.token_id}, shown this once):`);
      return { json: { kind: 'connection', client: name, command, where, token_id: created.token_id }, text: command };
    },
  },
  statusCommand,
];

/** What is printed can be run as it is: eval "$(covenant connect codex --write)". */
function written({ json, out }: Invocation, client: ClientName, files: readonly FileOutcome[], { token, token_id }: Record<string, unknown>): CommandResult {
  const command = `export COVIBE_MCP_TOKEN=${String(token)}`;
  const where = files.map(({ shown }) => shown).join(', ');
  if (!json) out.note(`${out.mark.good} ${where}\nRun this where ${client} is started (token ${String(token_id)}, shown this once):`);
  return { json: { kind: 'connection', client, command, where, token_id, files }, text: command };
}

/** By its id or the end of it: where the words of several titles would fit too, an id is what was meant. */
async function pageOf(client: Client, text: string): Promise<string> {
  const { items } = (await client.action('lookup.find', { text, limit: 10 })) as { items: { kind: string; id: string; title: string; path: string }[] };
  const meant = items.filter(({ id }) => id.toLowerCase().endsWith(text.replace(/^#/, '').toLowerCase()));
  const [found, another] = meant;
  if (found && !another) return found.path;
  if (!found)
    throw new CliError(
      'NOT_FOUND',
      `Nothing has the id ${JSON.stringify(text)}, or one that ends so.`,
      'Give more of it, or look on the dashboard: covenant open',
    );
  const named = meant.map(({ kind, id }) => `${kind} ${id}`).join(', ');
  throw new CliError('AMBIGUOUS', `${JSON.stringify(text)} is the end of several ids: ${named}.`, 'Give more of it.');
}

function requireServer(url: string | undefined): string {
  if (url) return url;
  throw new CliError('NOT_RUNNING', 'No server of this home runs.', 'covenant up');
}

async function firstDeveloperName(invocation: Invocation): Promise<string> {
  const { items } = (await (await invocation.client()).action('developers.list')) as { items: { name: string; role: string }[] };
  const name = items.find((developer) => developer.role === 'admin')?.name;
  if (!name || name === '@private') throw new UsageError('--developer NAME is needed');
  return name;
}
