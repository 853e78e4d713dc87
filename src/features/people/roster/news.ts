import { agentIdOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { rowsById } from '../../../storage/rows.ts';
import { type Viewer, viewerOf } from '../../core/identity/index.ts';
import { AGENT_SILENT, agentsById } from '../../workflow/agents/index.ts';
import { PLACES } from '../lookup/index.ts';
import type { NEWS, NewsItem, newsList } from './contract.ts';
import { type Happening, KEPT_MS, textOf } from './happenings.ts';
import { shortened } from './views.ts';

type News = (typeof NEWS)[number];

interface NewsWords {
  readonly news: News;
  readonly what: string;
  readonly title: string | null;
  readonly details?: string | null;
  readonly path: string | null;
  /** The id of the agent that the news is about, if another actor caused the event. */
  readonly agentId?: string | null;
}

/** Returns the text of an event for people who were away, or undefined if the event is not news. */
function wordsFor({ kind, subject, payload }: Happening): NewsWords | undefined {
  const to = textOf(payload, 'to');
  const step = () => ({ what: 'step', title: null, path: PLACES['workflow task'](subject, textOf(payload, 'workflow_id') ?? '') });
  switch (kind) {
    case 'task.completed':
      return { news: 'finished', what: 'task', title: textOf(payload, 'title'), details: textOf(payload, 'result_summary'), path: PLACES.task(subject, '') };
    case 'workflow.task_status_changed':
      if (to === 'completed') return { news: 'finished', ...step() };
      return to === 'failed' ? { news: 'failed', ...step() } : undefined;
    case 'workflow.task_released':
      if (textOf(payload, 'reason') !== AGENT_SILENT) return undefined;
      return { news: 'failed', ...step(), details: 'Its agent went silent. Another agent can claim it.', agentId: textOf(payload, 'agent_id') };
    case 'workflow.status_changed':
      if (to === 'completed') return { news: 'finished', what: 'workflow', title: null, path: PLACES.workflow(subject, '') };
      return to === 'failed' || to === 'abandoned' ? { news: 'failed', what: 'workflow', title: null, path: PLACES.workflow(subject, '') } : undefined;
    case 'instance.ended': {
      const status = textOf(payload, 'status');
      if (status === 'pr_merged') return { news: 'finished', what: 'pull request', title: subject, path: PLACES.instance(subject, '') };
      if (textOf(payload, 'type') === 'review' || (status !== 'terminated' && status !== 'abandoned')) return undefined;
      return { news: 'failed', what: 'instance', title: subject, details: status, path: PLACES.instance(subject, '') };
    }
    case 'instance.failed':
      return { news: 'failed', what: 'instance', title: subject, details: textOf(payload, 'reason'), path: PLACES.instance(subject, '') };
    case 'pull.created':
      return { news: 'finished', what: 'pull request', title: subject, path: PLACES.instance(subject, '') };
    case 'pull.failed':
      return { news: 'failed', what: 'pull request', title: subject, details: textOf(payload, 'reason'), path: PLACES.instance(subject, '') };
    case 'cycle.completed':
      return { news: 'finished', what: 'cycle', title: textOf(payload, 'feature'), path: PLACES.cycle(subject, '') };
    case 'cycle.cancelled':
      return { news: 'failed', what: 'cycle', title: textOf(payload, 'feature'), details: textOf(payload, 'reason'), path: PLACES.cycle(subject, '') };
    case 'decision.recorded':
    case 'blocker.recorded': {
      const isDecision = kind === 'decision.recorded';
      const news = isDecision ? 'decided' : 'failed';
      return { news, what: isDecision ? 'decision' : 'blocker', title: textOf(payload, 'title'), details: textOf(payload, 'body'), path: null };
    }
    case 'scope.judged': {
      const warning = textOf(payload, 'warning_id');
      const verdict = textOf(payload, 'verdict');
      return {
        news: 'decided',
        what: 'overlap',
        title: `Judged ${verdict}`,
        details: textOf(payload, 'confirmation_reason'),
        path: warning && PLACES.overlap(warning, ''),
      };
    }
    case 'question.answered':
      return { news: 'decided', what: 'question', title: 'A question was answered', path: PLACES.message(subject, '') };
    case 'approval.approved':
    case 'approval.refused': {
      const word = kind === 'approval.approved' ? 'Approved' : 'Refused';
      return { news: 'decided', what: 'call', title: `${word} ${textOf(payload, 'name')}`, path: null };
    }
    case 'upstream.approved':
      return { news: 'decided', what: 'definition', title: `Approved definitions of ${subject.replace(/^server:/, '')}`, path: '/tools/changes' };
    default:
      return undefined;
  }
}

/** Newest first. */
export async function newsSince(
  db: Db,
  principal: Principal,
  events: readonly Happening[],
  { since, limit, now }: { since: number; limit: number; now: number },
): Promise<Output<typeof newsList>> {
  const from = Math.max(since, now - KEPT_MS);
  const counts: Record<News, number> = { finished: 0, failed: 0, decided: 0 };
  const all = events.flatMap((event) => {
    const words = event.time > from ? wordsFor(event) : undefined;
    if (words) counts[words.news]++;
    return words ? [{ event, words }] : [];
  });
  const listed = all.slice(-limit).reverse();
  const untitled = listed.filter(({ words }) => words.title === null).map(({ event }) => event.subject);
  const steps = await rowsById(db, 'workflow_tasks', principal.workspace, untitled, ['name', 'workflow_id']);
  const workflows = await rowsById(db, 'workflows', principal.workspace, untitled, ['name']);
  const agents = await agentsById(db, principal.workspace, [...new Set(listed.flatMap(({ words }) => words.agentId ?? []))]);
  const viewer = await viewerOf(db, principal);
  const acting = listed.flatMap(({ event: { actor, subject } }) => [subject, agentIdOf(actor)]);
  const owners = await rowsById(db, 'instances', principal.workspace, acting, ['developer_id']);
  const by = ({ event: { actor }, words }: (typeof listed)[number]) => {
    const agent = words.agentId ? agents.get(words.agentId) : undefined;
    if (agent) return viewer.agent(agent.actor, agent.developer_id);
    return personOrAgent(viewer, actor, actor.startsWith('instance:') ? owners.get(agentIdOf(actor))?.developer_id : undefined);
  };
  // The reason why an instance failed contains its repository and its branch, so it is shown only to viewers who may see the developer.
  const sees = ({ subject }: Happening) => viewer.sees(owners.get(subject)?.developer_id ?? null);
  const items = listed.map(
    ({ event, words }): NewsItem => ({
      seq: event.seq,
      news: words.news,
      what: words.what,
      title: shortened(words.title ?? (steps.get(event.subject) ?? workflows.get(event.subject))?.name ?? event.subject),
      details: words.details && sees(event) ? shortened(words.details) : null,
      by: by({ event, words }),
      time: event.time,
      path: words.path,
    }),
  );
  return { since: from, items, counts };
}

/** Returns no link for the server, the operator and people, because only agents have a page on the dashboard. */
const personOrAgent = (viewer: Viewer, actor: string, owner: string | null | undefined): NewsItem['by'] => {
  const ref = viewer.agent(actor, owner);
  return /^(?:agent|instance):/.test(actor) ? ref : { ...ref, agent_id: null };
};
