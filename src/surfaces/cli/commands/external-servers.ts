import { type AnswerTo, call, calling } from '../call.ts';
import { type CliCommand, type CommandOptions, type CommandResult, given, type Invocation, option, upToThousand } from '../command.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { age, type CliOutput, escapeInvisible, type TableShape, table } from '../output.ts';

const NAME = { name: 'NAME', description: 'The name of the server in secrets.toml.' } as const;
const TOOL = { tool: { value: 'TOOL', description: 'Only this tool or prompt.', default: 'all changes' } } as const satisfies CommandOptions;
/** The number of lines that `servers logs` shows by default. A test checks that the server has the same default. */
export const LOG_LINES = 100;

/** Commands for the external MCP servers in `secrets.toml`. */
export const externalServerCommands: readonly CliCommand[] = [
  calling({
    name: 'servers list',
    summary: 'List external MCP servers, their state and their withheld tools.',
    examples: ['servers list'],
    action: 'servers.list',
    kind: 'server_list',
    text: (listed, { out }) => serverLines(listed, out.mark, Date.now(), out.columns),
  }),
  {
    name: 'servers restart',
    summary: 'Restart a server with its current settings in secrets.toml.',
    arguments: [NAME],
    examples: ['servers restart filesystem'],
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
    summary: 'Review and approve the new or changed tools of a server.',
    description: 'Agents cannot use new or changed tools until you approve them. At a terminal, the command shows the changes and asks.',
    arguments: [NAME],
    options: { ...TOOL, yes: { description: 'Approve without asking.' } },
    examples: ['servers approve filesystem', 'servers approve filesystem --tool write_file --yes'],
    run: approve,
  },
  {
    name: 'servers reject',
    summary: 'Reject the new or changed tools of a server. They stay withheld.',
    arguments: [NAME],
    options: TOOL,
    examples: ['servers reject filesystem --tool write_file'],
    run: reject,
  },
  calling({
    name: 'servers forget',
    summary: 'Delete the records of a server that is not in secrets.toml.',
    arguments: [{ ...NAME, field: 'server' }],
    examples: ['servers forget filesystem'],
    action: 'servers.forget',
    kind: 'server_forgotten',
    text: ({ server }) => `Forgot ${server}. Grants for its tools stay, and apply to any later tool with the same name.\n    next: covenant capabilities list`,
  }),
  calling({
    name: 'servers logs',
    summary: 'Print the last lines that a server wrote to standard error.',
    arguments: [{ ...NAME, field: 'server' }],
    options: { lines: { value: 'N', description: 'The number of lines, from 1 to 1000.', default: LOG_LINES } },
    examples: ['servers logs filesystem --lines 50'],
    action: 'servers.logs',
    input(invocation) {
      const lines = option(invocation, 'lines');
      return lines === undefined ? {} : { lines: upToThousand(lines, '--lines') };
    },
    kind: 'server_log',
    text: ({ server, lines }) => (lines.length === 0 ? `${server} has not written to standard error.` : lines.map(escapeInvisible).join('\n')),
  }),
];

/** Approves exactly the changes that the person saw. If the server changes a tool later, that change stays withheld. */
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

/** Rejects the current changes. A person can still approve them later. */
async function reject(invocation: Invocation): Promise<CommandResult> {
  const server = invocation.positionals[0] as string;
  const answer = await call(invocation, 'servers.reject', { server, ...given(invocation, 'tool') });
  const { rejected, left } = answer;
  const names = rejected.map(({ exposed }) => exposed).join(', ');
  const text =
    rejected.length > 0 ? `Rejected ${names}. To offer it after all:\n    next: covenant servers approve ${server}` : `${server} has no changes to reject.`;
  return { json: { kind: 'server_rejected', ...answer }, text, exit: rejected.length === 0 && left.length > 0 ? 1 : 0 };
}

function approvedText(server: string, approved: readonly WithheldItem[], left: readonly WithheldItem[]): string {
  if (approved.length === 0 && left.length === 0) return `${server} has no withheld tools.`;
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

/** Lists the withheld items, each with the changes that a person has to approve. */
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

export function serverLines({ items, problems, unconfigured }: ServerList, mark: CliOutput['mark'], now: number, columns?: number): string {
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
  const lines =
    items.length === 0
      ? ['No external server is configured. Add [[mcp.server]] tables to secrets.toml in the home of the server.']
      : [table(SERVERS, rows, columns)];
  if (items.some(({ state }) => state === 'stopped'))
    lines.push(`${mark.quiet} Covenant is not running, so its external servers are stopped.\n    next: covenant up`);
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
    lines.push(
      `${mark.quiet} removed from secrets.toml: ${unconfigured.join(', ')}. To free the names of their tools:\n    next: covenant servers forget ${unconfigured[0]}`,
    );
  return lines.join('\n');
}

const MAX_NAMED = 20;

/** Lists at most MAX_NAMED withheld items, each with the reason why it is withheld. */
export function withheldNames(items: readonly WithheldItem[]): string {
  const names = items.slice(0, MAX_NAMED).map(({ exposed, name, reason, rejected }) => {
    const shown = escapeInvisible(exposed || name) || '(no name)';
    return reason === 'duplicate' ? `a second ${shown}` : `${shown} (${reason.replace('_', ' ')}${rejected === null ? '' : ', rejected'})`;
  });
  return [...names, ...(items.length > MAX_NAMED ? [`and ${items.length - MAX_NAMED} more`] : [])].join(', ');
}

const SERVERS: TableShape = {
  head: ['SERVER', 'STATE', 'TRANSPORT', 'TOOLS', 'WITHHELD', 'RESTARTS', 'SINCE', 'WORKSPACES'],
  narrow: [
    ['WORKSPACES', 12],
    ['RESTARTS', 0],
    ['TRANSPORT', 0],
    ['SERVER', 16],
  ],
};

const approvable = ({ withheld }: ServerItem): WithheldItem[] => withheld.filter(({ fingerprint }) => fingerprint !== '');
