import type { EventView, ShownAgent } from '../../api.ts';
import { nameOf } from '../identity/agent.ts';
import type { RefusalFacts } from './refusal.tsx';

/** The kind of event that a hook appends when it denies an edit or a commit. */
const DENIED_EDIT = 'edit.denied';

type DeniedEdit = NonNullable<ShownAgent['refusals'][number]['edit']>;

/** The denied edit that an event reports, if it is one. */
export function deniedEditIn({ kind, category, payload: { path, claim_id, client, tool } }: EventView): DeniedEdit | undefined {
  if (kind !== DENIED_EDIT || category !== 'work') return undefined;
  if (typeof path !== 'string' || typeof claim_id !== 'string' || typeof client !== 'string') return undefined;
  return { path, claim_id, client, tool: typeof tool === 'string' ? tool : null };
}

/** `Claude Code, Write`: the program and the tool that tried to write. */
export const writerOf = ({ client, tool }: DeniedEdit): string => (tool === null ? nameOf(client) : `${nameOf(client)}, ${tool}`);

/** The refusal in words for the page. The agent's own message names people, so only the agent may read it. */
export const deniedWords = (edit: DeniedEdit): Omit<RefusalFacts, 'seq' | 'time'> => ({
  asked: `Edit of ${edit.path}`,
  step: 'rule',
  code: null,
  message: `${writerOf(edit)}: denied before the file was written. Another agent holds an exclusive claim on it.`,
  required_action: 'Wait until the holder releases the claim or it expires. The agent was told whom to ask.',
});

export const claimPath = ({ claim_id }: DeniedEdit): string => `/tasks/claims?claim=${claim_id}`;
