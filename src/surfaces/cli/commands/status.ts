import { homeFolder } from '../../../wire/covenant-home.ts';
import { type AnswerTo, call, type ItemOf } from '../call.ts';
import { processOf } from '../client.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { age } from '../output.ts';
import { agentLines, expiringLines, expiringToken, lostAt, MAX_LISTED, waitingCommand, waitingLines, workflowLines } from './status-text.ts';

/** The statuses of a workflow that still needs work. */
const UNFINISHED = ['planning', 'ready', 'in_progress', 'paused', 'failed'];

export const statusCommand: CliCommand = {
  name: 'status',
  summary: 'Show what waits on you, agents at work and open workflows.',
  options: { verbose: { description: 'Also show the server, its database and its journal.' } },
  examples: ['status', 'status --verbose'],
  async run(invocation) {
    const { url } = await invocation.client();
    const server = await call(invocation, 'server.status');
    const agents = await call(invocation, 'agents.list', { limit: 200 });
    const workflows = await call(invocation, 'workflows.list', { status: UNFINISHED, limit: 200 });
    const { items, cut } = await call(invocation, 'waiting.list');
    const waiting = { items: items.map(waitingCommand), cut };
    const expiring = (await call(invocation, 'tokens.list', { expiring: true })).items.map(expiringToken);
    const { out } = invocation;
    const width = { columns: out.columns, now: Date.now() };
    const lost = invocation.json ? new Map<string, number>() : await lossesOf(invocation, agents.items);
    const lines = [
      ...(url === undefined ? [withoutServer(invocation)] : []),
      ...(invocation.values.verbose === true ? serverLines(url, server, width.now) : []),
      ...waitingLines(waiting, out.tone, width),
      ...expiringLines(expiring, out.tone, width),
      ...agentLines(agents, lost, out.tone, width),
      ...workflowLines(workflows, width),
    ];
    return { json: { ...server, kind: 'status', url: url ?? null, waiting, expiring_tokens: expiring, agents, workflows }, text: lines.join('\n') };
  },
};

function withoutServer({ env, out: { mark } }: Invocation): string {
  const silent = processOf(homeFolder(env));
  if (silent) return `${mark.bad} The server at ${silent.url} (process ${silent.pid}) does not answer.\n    next: covenant doctor`;
  return `${mark.quiet} No server is running, so agents cannot connect.\n    next: covenant up`;
}

/** Returns, for each lost agent, the time at which the agent lost its claims. */
async function lossesOf(invocation: Invocation, agents: readonly ItemOf<'agents.list'>[]): Promise<Map<string, number>> {
  const losses = new Map<string, number>();
  for (const { state, agent_id } of agents.slice(0, MAX_LISTED)) {
    if (state !== 'lost' || agent_id === null) continue;
    const time = lostAt((await call(invocation, 'agents.show', { agent_id })).work);
    if (time !== undefined) losses.set(agent_id, time);
  }
  return losses;
}

const serverLines = (url: string | undefined, server: AnswerTo<'server.status'>, now: number): string[] => [
  ...(url === undefined ? [] : [`Server     ${url}, version ${server.version}, up ${age(server.started_at, now)}`]),
  `Store      ${server.store === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, schema ${server.schema} · workspace ${server.workspace}`,
  `Contents   ${server.tools} tools · ${server.developers} developers · ${server.tokens} tokens`,
  `Journal    ${server.events} events, the last ${age(server.last_event_at, now)} ago · ${server.refused_24h} calls refused in 24 h`,
];
