import type { EventView, ShownAgent } from '../../api.ts';
import { nameOf } from '../identity/agent.ts';
import type { RefusalFacts } from './refusal.tsx';

/** When a hook denies an edit or a commit, the server appends an event of this kind. */
const DENIED_EDIT = 'edit.denied';

type DeniedEdit = NonNullable<ShownAgent['refusals'][number]['edit']>;

/** Returns the denied edit that an event reports, or undefined if it is another kind of event. */
export function deniedEditIn({ kind, category, payload: { path, claim_id, client, tool } }: EventView): DeniedEdit | undefined {
  if (kind !== DENIED_EDIT || category !== 'work') return undefined;
  if (typeof path !== 'string' || typeof claim_id !== 'string' || typeof client !== 'string') return undefined;
  return { path, claim_id, client, tool: typeof tool === 'string' ? tool : null };
}

/** Returns the program and the tool that tried to write, such as `Claude Code, Write`. */
export const writerOf = ({ client, tool }: DeniedEdit): string => (tool === null ? nameOf(client) : `${nameOf(client)}, ${tool}`);

/** Describes the refusal for the page. The message to the agent is not shown, because it contains names that only the agent may read. */
export const deniedWords = (edit: DeniedEdit): Omit<RefusalFacts, 'seq' | 'time'> => ({
  asked: `Edit of ${edit.path}`,
  step: 'rule',
  code: null,
  message: `${writerOf(edit)}: denied before the file was written. Another agent holds an exclusive claim on it.`,
  required_action: 'Wait until the holder releases the claim or the claim expires. The message to the agent says whom to ask.',
});

export const claimPath = ({ claim_id }: DeniedEdit): string => `/tasks/claims?claim=${claim_id}`;
