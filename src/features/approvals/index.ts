import type { House } from '../../kernel/context.ts';
import type { Ports } from '../../kernel/ports.ts';
import type { Feature } from '../../kernel/tool.ts';

export interface ApprovalParts {
  /** Which external server a tool or prompt is of; null for the product's own. */
  readonly serverOf: (noun: string, name: string) => string | null;
  /** How long a person has to decide. */
  readonly deadlineMs: number;
}

export function createApprovals(_house: House, _parts: ApprovalParts): { feature: Feature; ports: Pick<Ports, 'hold' | 'suspend' | 'resume'> } {
  const missing = async () => {
    throw new Error('not built');
  };
  return { feature: { name: 'approvals', implementations: [] }, ports: { hold: missing, suspend: missing, resume: missing } };
}
