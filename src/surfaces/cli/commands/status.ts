import { homeFolder } from '../../../config.ts';
import type { listApprovals } from '../../../features/core/approvals/contract.ts';
import type { waitingDevices } from '../../../features/core/devices/contract.ts';
import type { listTokens } from '../../../features/core/identity/contract.ts';
import type { serverStatus } from '../../../features/core/server/contract.ts';
import type { listServers } from '../../../features/gateway/servers/contract.ts';
import type { agentsList, agentsShow } from '../../../features/people/roster/contract.ts';
import type { instancesList } from '../../../features/review/instances/contract.ts';
import type { listQuestions } from '../../../features/workflow/messages/contract.ts';
import type { workflowsList } from '../../../features/workflow/oversight/contract.ts';
import type { Output as Answer } from '../../../kernel/contract.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/workspace.ts';
import { asking, type CliCommand, type Invocation } from '../command.ts';
import { age } from '../output.ts';
import { processOf } from '../served.ts';
import { agentLines, expiringLines, expiringToken, LISTED, lostAt, waitingLines, workflowLines } from './status-text.ts';
import { heldCall, inOrder, openQuestion, spentReview, type WaitingCommand, waitingDevice, withheldDefinitions } from './status-waiting.ts';

interface Answers {
  'server.status': Answer<typeof serverStatus>;
  'approvals.list': Answer<typeof listApprovals>;
  'questions.list': Answer<typeof listQuestions>;
  'devices.waiting': Answer<typeof waitingDevices>;
  'servers.list': Answer<typeof listServers>;
  'instances.list': Answer<typeof instancesList>;
  'agents.list': Answer<typeof agentsList>;
  'agents.show': Answer<typeof agentsShow>;
  'workflows.list': Answer<typeof workflowsList>;
  'tokens.list': Answer<typeof listTokens>;
}
const ask = asking<Answers>();

/** What a workflow is while somebody has still to do something about it. */
const UNFINISHED = ['planning', 'ready', 'in_progress', 'paused', 'failed'];

export const statusCommand: CliCommand = {
  name: 'status',
  summary: 'What waits on you, who is at work and how far the workflows are; with --verbose what the server is and holds.',
  options: { verbose: { type: 'boolean' } },
  async run(invocation) {
    const { url } = await invocation.client();
    const server = await ask(invocation, 'server.status');
    const agents = await ask(invocation, 'agents.list', { limit: 200 });
    const workflows = await ask(invocation, 'workflows.list', { status: UNFINISHED, limit: 200 });
    const waiting = await whatWaits(invocation, agents.items, server.workspace === DEFAULT_WORKSPACE_ID);
    const expiring = (await ask(invocation, 'tokens.list', { expiring: true })).items.map(expiringToken);
    const { out } = invocation;
    // Piped, whoever reads it cuts it as they like.
    const width = { columns: process.stdout.columns ?? Number.POSITIVE_INFINITY, now: Date.now() };
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
  if (silent) return `${mark.bad} the server at ${silent.url} (process ${silent.pid}) does not answer\n    next: covenant doctor`;
  return `${mark.quiet} no server runs: agents cannot call\n    next: covenant up`;
}

/** The operator is nobody's teammate: asks, handoffs and overlaps wait for the developer whom they concern. */
async function whatWaits(
  invocation: Invocation,
  agents: Answers['agents.list']['items'],
  isDefault: boolean,
): Promise<{ items: WaitingCommand[]; cut: boolean }> {
  const approvals = await ask(invocation, 'approvals.list');
  const questions = await ask(invocation, 'questions.list');
  const instances = await ask(invocation, 'instances.list', { status: ['started', 'waiting_review'], type: 'coding', limit: 200 });
  // Devices and other servers belong to no workspace: the default one looks after them.
  const devices = isDefault ? (await ask(invocation, 'devices.waiting')).items : [];
  const servers = isDefault ? (await ask(invocation, 'servers.list')).items : [];
  // A question names the registered agent; people know whose it is.
  const known = new Map(agents.flatMap(({ name, registered }) => registered.map((id) => [id, name] as const)));
  const items = [
    ...approvals.items.map(heldCall),
    ...questions.items.map((question) => openQuestion(question, known.get(question.agent_id))),
    ...devices.map(waitingDevice),
    ...instances.items.filter(({ at_limit }) => at_limit).map(spentReview),
    ...servers.filter(({ withheld }) => withheld.some(({ rejected }) => rejected === null)).map(withheldDefinitions),
  ];
  return { items: inOrder(items), cut: approvals.cut || questions.cut };
}

/** When each of the listed agents that are lost lost what it held. */
async function lossesOf(invocation: Invocation, agents: Answers['agents.list']['items']): Promise<Map<string, number>> {
  const losses = new Map<string, number>();
  for (const { state, agent_id } of agents.slice(0, LISTED)) {
    if (state !== 'lost' || agent_id === null) continue;
    const time = lostAt((await ask(invocation, 'agents.show', { agent_id })).work);
    if (time !== undefined) losses.set(agent_id, time);
  }
  return losses;
}

const serverLines = (url: string | undefined, server: Answers['server.status'], now: number): string[] => [
  ...(url === undefined ? [] : [`Server     ${url}, version ${server.version}, up ${age(server.started_at, now)}`]),
  `Store      ${server.store === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, schema ${server.schema} · workspace ${server.workspace}`,
  `Holds      ${server.tools} tools · ${server.developers} developers · ${server.tokens} tokens`,
  `Journal    ${server.events} events, the last ${age(server.last_event_at, now)} ago · ${server.refused_24h} calls refused in 24 h`,
];
