import { type AnswerTo, call, calling } from '../call.ts';
import { type CliCommand, type CommandResult, given, type Invocation, option, upToThousand } from '../command.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { age, type CliOutput, escapeInvisible, table } from '../output.ts';

/** External MCP servers, as `secrets.toml` names them. */
export const externalServerCommands: readonly CliCommand[] = [
  calling({
    name: 'servers list',
    summary: 'The external MCP servers: their health, and what of theirs is withheld.',
    action: 'servers.list',
    kind: 'server_list',
    text: (listed, { out }) => serverLines(listed, out.mark, Date.now()),
  }),
  {
    name: 'servers restart',
    summary: 'Read secrets.toml again and start a server anew.',
    positionals: ['NAME'],
    async run(invocation) {
      const answer = await call(invocation, 'servers.restart', { server: invocation.positionals[0] });
      const { server, state, problem } = answer;
      const { mark } = invocation.out;
      const text =
        problem === null
          ? `${mark.good} ${server} is ${state}.`
          : `${mark.bad} ${server}: ${escapeInvisible(problem)}\n    next: covenant servers logs ${server}`;
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
  calling({
    name: 'servers forget',
    summary: 'Remove what is known of a server that is in secrets.toml no more.',
    positionals: { NAME: 'server' },
    action: 'servers.forget',
    kind: 'server_forgotten',
    text: ({ server }) => `Forgot ${server}. Grants for its tools stay, and are for whoever has those names next:\n    next: covenant capabilities list`,
  }),
  calling({
    name: 'servers logs',
    summary: 'The last lines that a server wrote to its standard error.',
    positionals: { NAME: 'server' },
    options: { lines: { type: 'string' } },
    action: 'servers.logs',
    input(invocation) {
      const lines = option(invocation, 'lines');
      return lines === undefined ? {} : { lines: upToThousand(lines, '--lines') };
    },
    kind: 'server_log',
    text: ({ server, lines }) => (lines.length === 0 ? `${server} has written nothing.` : lines.map(escapeInvisible).join('\n')),
  }),
];

/** A person sees the difference before they say yes, and approves what they saw: what the server changes meanwhile stays withheld. */
async function approve(invocation: Invocation): Promise<CommandResult> {
  const server = invocation.positionals[0] as string;
  const tool = option(invocation, 'tool');
  const withheld = (await call(invocation, 'servers.list', { server })).items.flatMap((item) => item.withheld);
  const shown = withheld.filter((item) => item.fingerprint !== '' && (tool === undefined || item.name === tool || item.exposed === tool));
  if (!invocation.json && shown.length > 0) invocation.out.note(`${withheldLines(shown)}\n`);
  if (shown.length > 0 && canConfirm(invocation) && !(await confirm(`Approve ${shown.length === 1 ? 'this' : `these ${shown.length}`}?`)))
    return { json: { kind: 'server_approved', server, approved: [], left: shown }, text: 'Nothing was approved.', exit: 1 };
  const fingerprints = shown.map(({ fingerprint }) => fingerprint);
  const answer = await call(invocation, 'servers.approve', { server, ...given(invocation, 'tool'), fingerprints });
  const { approved, left } = answer;
  return { json: { kind: 'server_approved', ...answer }, text: approvedText(server, approved, left), exit: approved.length === 0 && left.length > 0 ? 1 : 0 };
}

/** Rejects the changes that the server has now. They can still be approved later. */
async function reject(invocation: Invocation): Promise<CommandResult> {
  const server = invocation.positionals[0] as string;
  const answer = await call(invocation, 'servers.reject', { server, ...given(invocation, 'tool') });
  const { rejected, left } = answer;
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

type ServerList = AnswerTo<'servers.list'>;
export type ServerItem = ServerList['items'][number];
type WithheldItem = ServerItem['withheld'][number];

const escapedLines = (text: string, by: string): string =>
  escapeInvisible(text)
    .split('\n')
    .map((line) => `${by}${line}`)
    .join('\n');

/** The withheld items with the changes that a person would approve. */
export function withheldLines(items: readonly WithheldItem[]): string {
  return items
    .map(({ kind, name, exposed, reason, renamed_from, difference, more_changes }) => {
      const from = renamed_from === null ? '' : ` from ${escapeInvisible(renamed_from)}`;
      const head = `${escapeInvisible(exposed || name)}  ${kind}, ${reason}${from}`;
      const changes = difference.map(({ path, before, after }) =>
        [`  ${escapeInvisible(path)}`, before === null ? '' : escapedLines(before, '  - '), after === null ? '' : escapedLines(after, '  + ')]
          .filter(Boolean)
          .join('\n'),
      );
      return [head, ...changes, ...(more_changes > 0 ? [`  and ${more_changes} more changes`] : [])].join('\n');
    })
    .join('\n\n');
}

export function serverLines({ items, problems, unconfigured }: ServerList, mark: CliOutput['mark'], now: number): string {
  const rows = items.map((s) => [
    s.name,
    s.state,
    s.transport,
    String(s.tools),
    String(approvable(s).length),
    String(s.restarts),
    age(s.since, now),
    s.workspaces.join(', '),
  ]);
  const lines = items.length === 0 ? ['There is no external server: write [[mcp.server]] tables into secrets.toml.'] : [table(HEAD, rows)];
  if (items.some(({ state }) => state === 'stopped')) lines.push(`${mark.quiet} Covenant does not run, so they do not either.\n    next: covenant up`);
  for (const { name, problem, next_start_at } of items) {
    if (problem === null) continue;
    const again = next_start_at === null ? '' : ` Next start in ${Math.max(0, Math.ceil((next_start_at - now) / 1000))} s.`;
    lines.push(`${mark.bad} ${name}: ${escapeInvisible(problem)}${again}\n    next: covenant servers logs ${name}`);
  }
  for (const { line, server, message } of problems) {
    const where = line === null ? '' : `secrets.toml:${line}: `;
    lines.push(`${mark.wait} ${where}${server === null ? '' : `${escapeInvisible(server)}: `}${escapeInvisible(message)}`);
  }
  for (const server of items) {
    if (server.withheld.length > 0) lines.push(`${mark.wait} ${server.name}: withheld: ${withheldNames(server.withheld)}`);
    if (approvable(server).some(({ rejected }) => rejected === null)) lines.push(`    next: covenant servers approve ${server.name}`);
  }
  if (unconfigured.length > 0)
    lines.push(`${mark.quiet} not in secrets.toml any more: ${unconfigured.join(', ')}\n    next: covenant servers forget NAME frees the names of its tools`);
  return lines.join('\n');
}

const MAX_NAMED = 20;

/** Which, and why; as many as a person reads. */
export function withheldNames(items: readonly WithheldItem[]): string {
  const names = items.slice(0, MAX_NAMED).map(({ exposed, name, reason, rejected }) => {
    const shown = escapeInvisible(exposed || name) || 'one without a name';
    return reason === 'duplicate' ? `a second ${shown}` : `${shown} (${reason.replace('_', ' ')}${rejected === null ? '' : ', rejected'})`;
  });
  return [...names, ...(items.length > MAX_NAMED ? [`and ${items.length - MAX_NAMED} more`] : [])].join(', ');
}

const HEAD = ['SERVER', 'STATE', 'TRANSPORT', 'TOOLS', 'WITHHELD', 'RESTARTS', 'SINCE', 'WORKSPACES'];

const approvable = ({ withheld }: ServerItem): WithheldItem[] => withheld.filter(({ fingerprint }) => fingerprint !== '');
