import { PUBLISHED, toolsetsNamed } from '../../mcp/toolsets.ts';
import { CliError, type Command, given, type Invocation, UsageError } from '../command.ts';
import { CLIENTS, type ClientName, connection } from '../connect.ts';
import { age } from '../output.ts';

export const serverCommands: readonly Command[] = [
  {
    name: 'open',
    summary: 'Print a fresh sign-in link for the dashboard. It works once.',
    options: { developer: { type: 'string' } },
    async run(invocation) {
      const client = await invocation.client();
      const url = requireServer(client.url);
      const link = await client.action('signin.link', given(invocation, 'developer'));
      return { json: { kind: 'signin_link', url: `${url}${link.path}`, developer: link.developer, expires_at: link.expires_at }, text: `${url}${link.path}` };
    },
  },
  {
    name: 'connect',
    summary:
      'Print the line that connects an agent on this machine, with a fresh token of its own. --toolsets team+workflow serves it more tools than the default.',
    positionals: [CLIENTS.join('|')],
    options: { developer: { type: 'string' }, toolsets: { type: 'string' } },
    async run(invocation) {
      const name = invocation.positionals[0] as ClientName;
      if (!CLIENTS.includes(name)) throw new UsageError(`there is no client ${JSON.stringify(name)}: expected ${CLIENTS.join(', ')}`);
      const { toolsets } = given(invocation, 'toolsets');
      if (toolsets !== undefined && !toolsetsNamed(toolsets))
        throw new UsageError(`there are no toolsets ${JSON.stringify(toolsets)}: expected ${PUBLISHED.join('+')}, some of them, or all`);
      const client = await invocation.client();
      const url = requireServer(client.url);
      const developer = given(invocation, 'developer').developer ?? (await firstDeveloperName(invocation));
      const created = await client.action('tokens.create', { developer, agent: name });
      const { command, where } = connection(name, `${url}/mcp${toolsets === undefined ? '' : `/${toolsets}`}`, String(created.token));
      if (!invocation.json) invocation.out.note(`${where} (token ${created.token_id}, shown this once):`);
      return { json: { kind: 'connection', client: name, command, where, token_id: created.token_id }, text: command };
    },
  },
  {
    name: 'status',
    summary: 'What the server is and holds.',
    async run(invocation) {
      const client = await invocation.client();
      const status = await client.action('server.status');
      const now = Date.now();
      const lines = [
        client.url
          ? `${invocation.out.mark.good} serving at ${client.url} for ${age(Number(status.started_at), now)}`
          : `${invocation.out.mark.quiet} no server runs (covenant up starts one)`,
        `${status.store}, schema ${status.schema} · ${status.tools} tools · ${status.developers} developers · ${status.tokens} tokens`,
        `${status.events} events, the last ${age(status.last_event_at as number | null, now)} ago · ${status.refused_24h} calls refused in 24 h`,
      ];
      return { json: { ...status, kind: 'status', url: client.url ?? null }, text: lines.join('\n') };
    },
  },
];

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
