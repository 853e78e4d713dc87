import type { ShownAgent } from '../../api.ts';
import { claimPath } from '../events/denied-edit.ts';

type Refusal = ShownAgent['refusals'][number];

interface RefusalRemedy {
  readonly label: string;
  readonly path: string;
}

/** Returns the page on which a person can remove the cause of a refusal. */
export function remedyOf({ code, warning_id, edit }: Pick<Refusal, 'code' | 'warning_id' | 'edit'>, instanceId: string | null): RefusalRemedy | undefined {
  if (edit !== null) return { label: 'Open claim', path: claimPath(edit) };
  if (warning_id !== null) return { label: 'Compare work', path: `/tasks/overlaps?warning=${warning_id}` };
  if (code === 'CAPABILITY_DENIED') return { label: 'Grant…', path: '/tools/grants?grant=new' };
  if (code === 'CLAIM_CONFLICT') return { label: 'Open claims', path: '/tasks/claims' };
  if (code === 'TOOL_WITHHELD') return { label: 'Review changes', path: '/tools/changes' };
  if (code === 'REVIEW_LIMIT_EXCEEDED' && instanceId !== null) return { label: 'Open review', path: `/reviews/${instanceId}` };
  return undefined;
}

/** Returns the command that the message of a refusal recommends. */
export const commandIn = (words: string | null): string | undefined =>
  /`(covenant [^`]+)`/.exec(words ?? '')?.[1] ?? /\b(covenant [a-z]+ [^\n;,]*?)(?:[.;,](?:\s|$)|$)/.exec(words ?? '')?.[1];
