import type { listApprovals } from '../../../features/core/approvals/contract.ts';
import type { waitingDevices } from '../../../features/core/devices/contract.ts';
import type { listServers } from '../../../features/gateway/servers/contract.ts';
import type { instancesList } from '../../../features/review/instances/contract.ts';
import type { listQuestions } from '../../../features/workflow/messages/contract.ts';
import type { Output as Answer } from '../../../kernel/contract.ts';
import { counted } from '../output.ts';

type Approval = Answer<typeof listApprovals>['items'][number];
type Question = Answer<typeof listQuestions>['items'][number];
type Device = Answer<typeof waitingDevices>['items'][number];
type Instance = Answer<typeof instancesList>['items'][number];
type Server = Answer<typeof listServers>['items'][number];

/** What a person has to do, and the command for it. */
export interface WaitingCommand {
  readonly kind: 'question' | 'call' | 'review' | 'definition' | 'device';
  readonly id: string;
  readonly who: string;
  /** In somebody else's words, mostly. */
  readonly sentence: string;
  readonly since: number | null;
  readonly deadline: number | null;
  readonly command: string;
}

/** What has a deadline first, the nearest first; then what has waited longest. */
export const inOrder = (items: readonly WaitingCommand[]): WaitingCommand[] =>
  items.toSorted(
    (a, b) =>
      (a.deadline ?? Number.MAX_SAFE_INTEGER) - (b.deadline ?? Number.MAX_SAFE_INTEGER) ||
      (a.since ?? Number.MAX_SAFE_INTEGER) - (b.since ?? Number.MAX_SAFE_INTEGER) ||
      (a.id < b.id ? -1 : 1),
  );

/** Commands take the end of an id. */
const tail = (id: string): string => id.slice(-6);

export const openQuestion = (
  { question_id, agent_id, agent_name, subject, question, asked_at, expires_at }: Question,
  knownAs: string | undefined,
): WaitingCommand => ({
  kind: 'question',
  id: question_id,
  who: knownAs ?? agent_name ?? agent_id,
  sentence: `asks: ${subject ? `${subject}${/[.?!:…]$/.test(subject) ? '' : ':'} ` : ''}${question}`,
  since: asked_at,
  deadline: expires_at,
  command: `covenant workflow answer ${tail(question_id)}`,
});

export const heldCall = ({ approval_id, developer, agent, noun, name, requested_at, deadline_at }: Approval): WaitingCommand => ({
  kind: 'call',
  id: approval_id,
  who: developer === null ? 'the operator' : agent === null ? developer : `${agent}@${developer}`,
  sentence: `wants to call the ${noun} ${name}`,
  since: requested_at,
  deadline: deadline_at,
  command: `covenant approvals approve ${tail(approval_id)}`,
});

export const waitingDevice = ({ user_code, machine_name, agents, asked_at, expires_at }: Device): WaitingCommand => ({
  kind: 'device',
  id: user_code,
  who: machine_name,
  sentence: `asks for tokens for ${agents.join(', ')}`,
  since: asked_at,
  deadline: expires_at,
  command: `covenant devices approve ${user_code} --developer NAME`,
});

export const spentReview = ({ id, reviews, max_reviews, last_activity }: Instance): WaitingCommand => ({
  kind: 'review',
  id,
  who: id,
  sentence: `has used ${reviews} of ${counted(max_reviews, 'review')}`,
  since: last_activity,
  deadline: null,
  command: `covenant instances allow ${id}`,
});

export const withheldDefinitions = ({ name, withheld }: Server): WaitingCommand => ({
  kind: 'definition',
  id: `server:${name}`,
  who: name,
  sentence: `${counted(withheld.filter(({ rejected }) => rejected === null).length, 'definition')} withheld until somebody has looked at what changed`,
  since: null,
  deadline: null,
  command: `covenant servers approve ${name}`,
});
