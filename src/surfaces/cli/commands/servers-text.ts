import type { listServers } from '../../../features/gateway/servers/contract.ts';
import type { Output as Answer } from '../../../kernel/contract.ts';
import { age, type Output, table } from '../output.ts';

export type ServerList = Answer<typeof listServers>;
export type ServerItem = ServerList['items'][number];
export type WithheldItem = ServerItem['withheld'][number];

/**
 * What nobody sees on a screen is written out: a definition may hide words for the model in it, or turn round what a person reads.
 * Spaces and line ends stay, everything else without a shape of its own does not.
 */
export const visible = (text: string): string => text.toWellFormed().replace(/(?![\n ])[\p{C}\p{Z}\p{DI}\u2800]/gu, written);

const written = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16).toUpperCase()}}`;

const indented = (text: string, by: string): string =>
  visible(text)
    .split('\n')
    .map((line) => `${by}${line}`)
    .join('\n');

/** What is withheld, and what a person would approve. */
export function withheldLines(items: readonly WithheldItem[]): string {
  return items
    .map(({ kind, name, exposed, reason, renamed_from, difference, more_changes }) => {
      const from = renamed_from === null ? '' : ` from ${visible(renamed_from)}`;
      const head = `${visible(exposed || name)}  ${kind}, ${reason}${from}`;
      const changes = difference.map(({ path, before, after }) =>
        [`  ${visible(path)}`, before === null ? '' : indented(before, '  - '), after === null ? '' : indented(after, '  + ')].filter(Boolean).join('\n'),
      );
      return [head, ...changes, ...(more_changes > 0 ? [`  and ${more_changes} more changes`] : [])].join('\n');
    })
    .join('\n\n');
}

export function serverLines({ items, problems, unconfigured }: ServerList, mark: Output['mark'], now: number): string {
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
    lines.push(`${mark.bad} ${name}: ${visible(problem)}${again}\n    next: covenant servers logs ${name}`);
  }
  for (const { line, server, message } of problems) {
    const where = line === null ? '' : `secrets.toml:${line}: `;
    lines.push(`${mark.wait} ${where}${server === null ? '' : `${visible(server)}: `}${visible(message)}`);
  }
  for (const server of items) {
    if (server.withheld.length > 0) lines.push(`${mark.wait} ${server.name}: withheld: ${withheldNames(server.withheld)}`);
    if (approvable(server).some(({ rejected }) => rejected === null)) lines.push(`    next: covenant servers approve ${server.name}`);
  }
  if (unconfigured.length > 0)
    lines.push(`${mark.quiet} not in secrets.toml any more: ${unconfigured.join(', ')}\n    next: covenant servers forget NAME frees the names of its tools`);
  return lines.join('\n');
}

const MOST_NAMED = 20;

/** Which, and why; as many as a person reads. */
export function withheldNames(items: readonly WithheldItem[]): string {
  const names = items.slice(0, MOST_NAMED).map(({ exposed, name, reason, rejected }) => {
    const shown = visible(exposed || name) || 'one without a name';
    return reason === 'duplicate' ? `a second ${shown}` : `${shown} (${reason.replace('_', ' ')}${rejected === null ? '' : ', rejected'})`;
  });
  return [...names, ...(items.length > MOST_NAMED ? [`and ${items.length - MOST_NAMED} more`] : [])].join(', ');
}

const HEAD = ['SERVER', 'STATE', 'TRANSPORT', 'TOOLS', 'WITHHELD', 'RESTARTS', 'SINCE', 'WORKSPACES'];

const approvable = ({ withheld }: ServerItem): WithheldItem[] => withheld.filter(({ fingerprint }) => fingerprint !== '');
