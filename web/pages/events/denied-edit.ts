import type { EventView, ShownAgent } from '../../api.ts';
import { nameOf } from '../identity/agent.ts';
import type { RefusalFacts } from './refusal.tsx';

/** The kind of event that a hook leaves which kept an agent, or git, from an edit. */
const DENIED_EDIT = 'edit.denied';

type DeniedEdit = NonNullable<ShownAgent['refusals'][number]['edit']>;

/** What the journal says of it. */
export function deniedEditIn({ kind, category, payload: { path, claim_id, client, tool } }: EventView): DeniedEdit | undefined {
  if (kind !== DENIED_EDIT || category !== 'work') return undefined;
  if (typeof path !== 'string' || typeof claim_id !== 'string' || typeof client !== 'string') return undefined;
  return { path, claim_id, client, tool: typeof tool === 'string' ? tool : null };
}

/** `Claude Code, Write`: what would have written. */
export const writerOf = ({ client, tool }: DeniedEdit): string => (tool === null ? nameOf(client) : `${nameOf(client)}, ${tool}`);

/** In words of the page: those that the agent got name people, and are for the agent alone. */
export const deniedWords = (edit: DeniedEdit): Omit<RefusalFacts, 'seq' | 'time'> => ({
  asked: `Edit of ${edit.path}`,
  step: 'rule',
  code: null,
  message: `${writerOf(edit)}: stopped before the file was written, because another agent holds it by an exclusive claim.`,
  required_action: 'Its holder releases the claim or lets it expire. The agent was told whom to ask.',
});

export const claimPath = ({ claim_id }: DeniedEdit): string => `/tasks/claims?claim=${claim_id}`;
