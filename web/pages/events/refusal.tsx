import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { EventView, ShownAgent } from '../../api.ts';
import { Command } from '../../parts/command.tsx';
import { Notice } from '../../parts/layout.tsx';
import { escapeBidi, Time, UntrustedText } from '../../parts/values.tsx';
import { nameOf } from '../identity/agent.ts';

/** Where in the way of a call it ended. */
type RefusingStep = 'identity' | 'capability' | 'input' | 'rule';

const STEPS: Record<RefusingStep, string> = {
  identity: 'Who calls was not known',
  capability: 'No grant allows it',
  input: 'The input was not accepted',
  rule: 'A rule forbids it',
};

interface RefusalFacts {
  readonly asked: string;
  readonly step: RefusingStep;
  readonly code: string | null;
  /** What the caller was told, word for word; null where only the caller may read it. */
  readonly message: string | null;
  readonly required_action: string | null;
  readonly seq: number;
  readonly time: number;
}

interface RefusalCardProps {
  refusal: RefusalFacts;
  /** What it was measured against: the grant, the overlapping task, the holder. */
  evidence?: ReactNode;
  /** What makes the same call pass. */
  passes?: ReactNode;
  command?: string;
}

/** Asked for, by what it was refused, on what grounds, and what passes. The words are those that the caller got. */
export function RefusalCard({ refusal, evidence, passes, command }: RefusalCardProps) {
  const { asked, step, code, message, required_action, seq, time } = refusal;
  return (
    <article aria-label={`Refused: ${escapeBidi(asked)}`}>
      <Notice tone="bad">
        <p className="font-semibold">
          <UntrustedText text={asked} /> · {STEPS[step]}
        </p>
        {message === null ? <p>Its words are for the caller alone.</p> : <UntrustedText text={message} />}
        {evidence && <div className="mt-1">{evidence}</div>}
        {required_action && (
          <p className="mt-1">
            <span className="font-medium">What passes: </span>
            <UntrustedText text={required_action} />
          </p>
        )}
        {passes && <div className="mt-2 flex flex-wrap gap-2 text-text">{passes}</div>}
        {command && (
          <div className="mt-2 text-text">
            <Command text={command} />
          </div>
        )}
        <p className="mt-1 flex flex-wrap gap-x-3 text-label">
          {code && <code>{code}</code>}
          <Time at={time} />
          <Link to="/activity" search={{ event: seq }} className="underline underline-offset-2">
            Event {seq}
          </Link>
        </p>
      </Notice>
    </article>
  );
}

/** Which step a code comes from. What is no matter of identity, grants or input is a rule of a feature. */
export function stepOf(outcome: string, code: string | null): RefusingStep {
  if (outcome === 'denied') return code === 'OPERATOR_REQUIRED' || code === 'TOKEN_REQUIRED' || code === 'DEVELOPER_REQUIRED' ? 'identity' : 'capability';
  return code === 'INVALID_INPUT' || code === 'SCHEMA_INVALID' ? 'input' : 'rule';
}

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
