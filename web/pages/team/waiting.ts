import type { ActionResult, Approval, AskToMe, ExternalServer, Instance, Overlap, Question } from '../../api.ts';
import { counted, workerOf } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import type { NowSearch } from '../../search.ts';
import { looksAfterServers } from '../tools/tools.tsx';

/** What a person has to do, and the one way to it. */
export interface WaitingItem {
  readonly id: string;
  readonly kind: 'question' | 'call' | 'ask' | 'handoff' | 'review' | 'overlap' | 'definition' | 'device';
  readonly who: string | null;
  /** In somebody else's words, mostly. */
  readonly sentence: string;
  readonly since: number | null;
  readonly deadline: number | null;
  readonly button: string;
  /** Opened beside the list, or on a page of its own. */
  readonly opens: NowSearch | string;
  readonly isPressing?: boolean;
}

export interface WaitingSources {
  readonly questions: readonly Question[];
  readonly approvals: readonly Approval[];
  readonly asks: readonly AskToMe[];
  readonly overlaps: readonly Overlap[];
}

interface Waiting extends WaitingSources {
  readonly items: readonly WaitingItem[];
  /** Whether each source has answered once. */
  readonly isRead: boolean;
  readonly isCut: boolean;
  readonly problems: readonly { what: string; error: unknown; retry: () => void }[];
}

/** What waits ends by time too, which no event tells. */
const LOOK_MS = 30_000;
/** As the list of agents reads them: one answer serves both. */
export const AGENTS_READ = { limit: 200 };
const OVERLAPS_READ = 100;
const INSTANCES_READ = 200;

export function useWaiting(): Waiting {
  const me = useRead('identity.me', {}).data;
  const isOperator = me?.operator === true;
  // A device belongs to no workspace yet: those of the default one look after them.
  const seesDevices = isOperator && me?.workspace === 'ws_default';
  const forOperators = { everyMs: LOOK_MS, enabled: isOperator };
  const questions = useRead('questions.list', {}, { everyMs: LOOK_MS });
  const asks = useRead('waiting.list', {}, { everyMs: LOOK_MS });
  const overlaps = useRead('overlap.list', { open: true, level: 'escalated', limit: OVERLAPS_READ }, { everyMs: LOOK_MS });
  const instances = useRead('instances.list', { status: ['started', 'waiting_review'], type: 'coding', limit: INSTANCES_READ }, { everyMs: LOOK_MS });
  const approvals = useRead('approvals.list', {}, forOperators);
  const seesServers = isOperator && looksAfterServers(me?.workspace);
  const servers = useRead('servers.list', {}, { everyMs: LOOK_MS, enabled: seesServers });
  const devices = useRead('devices.waiting', {}, { everyMs: LOOK_MS, enabled: seesDevices });

  // A question names the registered agent; people know whose it is.
  const agents = useRead('agents.list', AGENTS_READ).data?.items ?? [];
  const known = new Map(agents.flatMap(({ name, registered }) => registered.map((id) => [id, name] as const)));

  const mine = overlaps.data?.items.filter((overlap) => overlap.mine) ?? [];
  const items = [
    ...(approvals.data?.items ?? []).map(heldCall),
    ...(questions.data?.items ?? []).map((question) => openQuestion(question, known.get(question.agent_id))),
    ...(asks.data?.items ?? []).map(teammate),
    ...(devices.data?.items ?? []).map(device),
    ...(instances.data?.items ?? []).filter(({ at_limit }) => at_limit).map(spentReview),
    ...mine.map(overlap),
    ...(servers.data?.items ?? []).filter(undecided).map(definitions),
  ];
  const read = [
    { what: 'The questions could not be read.', ...questions },
    { what: 'What teammates ask could not be read.', ...asks },
    { what: 'The overlaps could not be read.', ...overlaps },
    { what: 'The reviews could not be read.', ...instances },
    ...(isOperator ? [{ what: 'The calls to approve could not be read.', ...approvals }] : []),
    ...(seesServers ? [{ what: 'The changed definitions could not be read.', ...servers }] : []),
    ...(seesDevices ? [{ what: 'The devices that wait could not be read.', ...devices }] : []),
  ];
  return {
    items: inOrder(items),
    isRead: read.every(({ data, error }) => data !== undefined || error !== null),
    isCut: questions.data?.cut === true || approvals.data?.cut === true || asks.data?.cut === true,
    problems: read.flatMap(({ what, error, refetch }) => (error ? [{ what, error, retry: () => void refetch() }] : [])),
    questions: questions.data?.items ?? [],
    approvals: approvals.data?.items ?? [],
    asks: asks.data?.items ?? [],
    overlaps: mine,
  };
}

/** What has a deadline first, the nearest first; then what has waited longest. */
export const inOrder = (items: readonly WaitingItem[]): WaitingItem[] =>
  items.toSorted(
    (a, b) =>
      (a.deadline ?? Number.POSITIVE_INFINITY) - (b.deadline ?? Number.POSITIVE_INFINITY) ||
      (a.since ?? Number.POSITIVE_INFINITY) - (b.since ?? Number.POSITIVE_INFINITY) ||
      (a.id < b.id ? -1 : 1),
  );

const openQuestion = (
  { question_id, agent_name, agent_id, subject, question, asked_at, expires_at, priority }: Question,
  knownAs: string | undefined,
): WaitingItem => ({
  id: question_id,
  kind: 'question',
  who: knownAs ?? agent_name ?? agent_id,
  sentence: subject ? `${subject}${/[.?!:…]$/.test(subject) ? '' : ':'} ${question}` : question,
  since: asked_at,
  deadline: expires_at,
  button: 'Answer',
  opens: { question: question_id },
  isPressing: priority === 'urgent' || priority === 'high',
});

const heldCall = ({ approval_id, developer, agent, noun, name, requested_at, deadline_at }: Approval): WaitingItem => ({
  id: approval_id,
  kind: 'call',
  who: developer === null ? 'the operator' : workerOf(developer, agent),
  sentence: `wants to call the ${noun} ${name}`,
  since: requested_at,
  deadline: deadline_at,
  button: 'Decide',
  opens: { approval: approval_id },
  isPressing: true,
});

const teammate = ({ kind, id, from, text, since, deadline }: AskToMe): WaitingItem => ({
  id,
  kind,
  who: from.name,
  sentence: text,
  since,
  deadline,
  button: kind === 'ask' ? 'Answer' : 'Open',
  opens: kind === 'ask' ? { ask: id } : `/messages?message=${id}`,
});

const overlap = ({ warning_id, title, matches, created_at }: Overlap): WaitingItem => ({
  id: warning_id,
  kind: 'overlap',
  who: null,
  sentence: matches[0] ? `“${title}” looks like “${matches[0].title}” by ${matches[0].owner}` : `“${title}” looks like other work`,
  since: created_at,
  deadline: null,
  button: 'Judge',
  opens: { overlap: warning_id },
});

const spentReview = ({ id, reviews, max_reviews, last_activity }: Instance): WaitingItem => ({
  id,
  kind: 'review',
  who: id,
  sentence: `has used ${reviews} of ${counted(max_reviews, 'review')}: allow one more, take it as it is, or give it up`,
  since: last_activity,
  deadline: null,
  button: 'Decide',
  opens: `/reviews/${id}`,
});

/** What was rejected waits on nobody. */
const undecided = ({ withheld }: ExternalServer): number => withheld.filter(({ rejected }) => rejected === null).length;

export const definitions = (server: ExternalServer): WaitingItem => ({
  id: `server:${server.name}`,
  kind: 'definition',
  who: server.name,
  sentence: `${counted(undecided(server), 'definition')} withheld until somebody has looked at what changed`,
  since: null,
  deadline: null,
  button: 'Look',
  opens: '/tools/changes',
});

const device = ({ user_code, machine_name, agents, asked_at, expires_at }: ActionResult<'devices.waiting'>['items'][number]): WaitingItem => ({
  id: user_code,
  kind: 'device',
  who: machine_name,
  sentence: `asks for tokens for ${agents.join(', ')}, with the code ${user_code}`,
  since: asked_at,
  deadline: expires_at,
  button: 'Look',
  opens: `/setup/authorize?code=${encodeURIComponent(user_code)}`,
  isPressing: true,
});
