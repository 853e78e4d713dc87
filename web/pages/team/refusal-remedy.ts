import type { ShownAgent } from '../../api.ts';
import { claimPath } from '../events/denied-edit.ts';

type Refusal = ShownAgent['refusals'][number];

interface RefusalRemedy {
  readonly label: string;
  readonly path: string;
}

/** The page on which a person can remove the cause of a refusal. */
export function remedyOf({ code, warning_id, edit }: Pick<Refusal, 'code' | 'warning_id' | 'edit'>, instanceId: string | null): RefusalRemedy | undefined {
  if (edit !== null) return { label: 'See the claim', path: claimPath(edit) };
  if (warning_id !== null) return { label: 'See the pair', path: `/tasks/overlaps?warning=${warning_id}` };
  if (code === 'CAPABILITY_DENIED') return { label: 'Grant it', path: '/tools/grants?grant=new' };
  if (code === 'CLAIM_CONFLICT') return { label: 'See the claims', path: '/tasks/claims' };
  if (code === 'TOOL_WITHHELD') return { label: 'See the changes', path: '/tools/changes' };
  if (code === 'REVIEW_LIMIT_EXCEEDED' && instanceId !== null) return { label: 'Decide on the review', path: `/reviews/${instanceId}` };
  return undefined;
}

/** The command that the words of the refusal name. */
export const commandIn = (words: string | null): string | undefined =>
  /`(covenant [^`]+)`/.exec(words ?? '')?.[1] ?? /\b(covenant [a-z]+ [^\n;,]*?)(?:[.;,](?:\s|$)|$)/.exec(words ?? '')?.[1];
