import type { approveServer, rejectServer, restartServer, serverLogs } from '../../../features/gateway/servers/contract.ts';
import type { Output as Answer } from '../../../kernel/contract.ts';
import { type Command, type Invocation, option, type Result, UsageError } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type ServerList, serverLines, visible, type WithheldItem, withheldLines, withheldNames } from './servers-text.ts';

/** External MCP servers, as `secrets.toml` names them. */
export const externalServerCommands: readonly Command[] = [
  {
    name: 'servers list',
    summary: 'The external MCP servers: their health, and what of theirs is withheld.',
    async run(invocation) {
      const list = await listOf(invocation);
      return { json: { kind: 'server_list', ...list }, text: serverLines(list, invocation.out.mark, Date.now()) };
    },
  },
  {
    name: 'servers restart',
    summary: 'Read secrets.toml again and start a server anew.',
    positionals: ['NAME'],
    async run(invocation) {
      const answer = await (await invocation.client()).action('servers.restart', { server: invocation.positionals[0] });
      const { server, state, problem } = answer as unknown as Answer<typeof restartServer>;
      const { mark } = invocation.out;
      const text =
        problem === null ? `${mark.good} ${server} is ${state}.` : `${mark.bad} ${server}: ${visible(problem)}\n    next: covenant servers logs ${server}`;
      return { json: { kind: 'server_restarted', ...answer }, text, exit: problem === null ? 0 : 1 };
    },
  },
  {
    name: 'servers approve',
    summary: 'Show what a server has changed, and offer it as it is now.',
    positionals: ['NAME'],
    options: { tool: { type: 'string' } },
    run: approve,
  },
  {
    name: 'servers reject',
    summary: 'Say no to what a server has changed: it stays withheld, and waits on nobody.',
    positionals: ['NAME'],
    options: { tool: { type: 'string' } },
    run: reject,
  },
  {
    name: 'servers forget',
    summary: 'Remove what is known of a server that is in secrets.toml no more.',
    positionals: ['NAME'],
    async run(invocation) {
      const { server } = await (await invocation.client()).action('servers.forget', { server: invocation.positionals[0] });
      const text = `Forgot ${server}. Grants for its tools stay, and are for whoever has those names next:\n    next: covenant capabilities list`;
      return { json: { kind: 'server_forgotten', server }, text };
    },
  },
  {
    name: 'servers logs',
    summary: 'The last lines that a server wrote to its standard error.',
    positionals: ['NAME'],
    options: { lines: { type: 'string' } },
    async run(invocation) {
      const lines = option(invocation, 'lines');
      if (lines !== undefined && !/^[1-9]\d{0,3}$/.test(lines)) throw new UsageError('--lines is not a number from 1 to 1000');
      const input = { server: invocation.positionals[0], ...(lines === undefined ? {} : { lines: Number(lines) }) };
      const answer = (await (await invocation.client()).action('servers.logs', input)) as unknown as Answer<typeof serverLogs>;
      const text = answer.lines.length === 0 ? `${answer.server} has written nothing.` : answer.lines.map(visible).join('\n');
      return { json: { kind: 'server_log', ...answer }, text };
    },
  },
];

async function listOf(invocation: Invocation, input: { server?: string } = {}): Promise<ServerList> {
  return (await (await invocation.client()).action('servers.list', input)) as unknown as ServerList;
}

/** A person sees the difference before they say yes, and approves what they saw: what the server changes meanwhile stays withheld. */
async function approve(invocation: Invocation): Promise<Result> {
  const server = invocation.positionals[0] as string;
  const tool = option(invocation, 'tool');
  const withheld = (await listOf(invocation, { server })).items.flatMap((item) => item.withheld);
  const shown = withheld.filter((item) => item.fingerprint !== '' && (tool === undefined || item.name === tool || item.exposed === tool));
  if (!invocation.json && shown.length > 0) invocation.out.note(`${withheldLines(shown)}\n`);
  if (!invocation.json && shown.length > 0 && process.stdin.isTTY && process.stderr.isTTY) {
    const isWanted = await confirm(`Approve ${shown.length === 1 ? 'this' : `these ${shown.length}`}? [y/N] `, process.stdin, process.stderr);
    if (!isWanted) return { json: { kind: 'server_approved', server, approved: [], left: shown }, text: 'Nothing was approved.', exit: 1 };
  }
  const fingerprints = shown.map(({ fingerprint }) => fingerprint);
  const answer = await (await invocation.client()).action('servers.approve', { server, ...(tool === undefined ? {} : { tool }), fingerprints });
  const { approved, left } = answer as unknown as Answer<typeof approveServer>;
  return { json: { kind: 'server_approved', ...answer }, text: approvedText(server, approved, left), exit: approved.length === 0 && left.length > 0 ? 1 : 0 };
}

/** What is rejected is what is there now: it can still be approved. */
async function reject(invocation: Invocation): Promise<Result> {
  const server = invocation.positionals[0] as string;
  const tool = option(invocation, 'tool');
  const answer = await (await invocation.client()).action('servers.reject', { server, ...(tool === undefined ? {} : { tool }) });
  const { rejected, left } = answer as unknown as Answer<typeof rejectServer>;
  const names = rejected.map(({ exposed }) => exposed).join(', ');
  const text =
    rejected.length > 0
      ? `Rejected ${names}. It stays withheld:\n    next: covenant servers approve ${server} takes that back`
      : `Nothing of ${server} can be rejected.`;
  return { json: { kind: 'server_rejected', ...answer }, text, exit: rejected.length === 0 && left.length > 0 ? 1 : 0 };
}

function approvedText(server: string, approved: readonly WithheldItem[], left: readonly WithheldItem[]): string {
  if (approved.length === 0 && left.length === 0) return `Nothing of ${server} is withheld.`;
  const names = (items: readonly WithheldItem[]) => items.map(({ exposed }) => exposed).join(', ');
  const [gone, offered] = [approved.filter(({ reason }) => reason === 'gone'), approved.filter(({ reason }) => reason !== 'gone')];
  const lines = [];
  if (offered.length > 0) lines.push(`Approved ${names(offered)}.`);
  if (gone.length > 0) lines.push(`Forgot ${names(gone)}.`);
  if (left.length > 0) lines.push(`Still withheld: ${withheldNames(left)}.\n    next: covenant servers list`);
  return lines.join('\n');
}
