import type { ShownAgent } from '../../api.ts';
import { claimPath } from '../events/refusal.tsx';

type Refusal = ShownAgent['refusals'][number];

export interface TeamPass {
  /** Where it is made to pass. */
  readonly label: string;
  readonly path: string;
}

/** Where a person sees what it was refused for, and can change it. */
export function passOf({ code, warning_id, edit }: Pick<Refusal, 'code' | 'warning_id' | 'edit'>, instanceId: string | null): TeamPass | undefined {
  if (edit !== null) return { label: 'See the claim', path: claimPath(edit) };
  if (warning_id !== null) return { label: 'See the pair', path: `/tasks/overlaps?warning=${warning_id}` };
  if (code === 'CAPABILITY_DENIED') return { label: 'Grant it', path: '/tools/grants?grant=new' };
  if (code === 'CLAIM_CONFLICT') return { label: 'See the claims', path: '/tasks/claims' };
  if (code === 'TOOL_WITHHELD') return { label: 'See the changes', path: '/tools/changes' };
  if (code === 'REVIEW_LIMIT_EXCEEDED' && instanceId !== null) return { label: 'Decide on the review', path: `/reviews/${instanceId}` };
  return undefined;
}

/** The command that the refusal itself names. */
export const commandIn = (words: string | null): string | undefined =>
  /`(covenant [^`]+)`/.exec(words ?? '')?.[1] ?? /\b(covenant [a-z]+ [^\n;,]*?)(?:[.;,](?:\s|$)|$)/.exec(words ?? '')?.[1];
