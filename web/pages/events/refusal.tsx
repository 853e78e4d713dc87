import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Command } from '../../parts/command.tsx';
import { Notice } from '../../parts/layout.tsx';
import { escapeBidi, Time, UntrustedText } from '../../parts/values.tsx';

/** The step at which a call was refused. */
type RefusingStep = 'identity' | 'capability' | 'input' | 'rule';

const STEPS: Record<RefusingStep, string> = {
  identity: 'Unknown caller',
  capability: 'No grant',
  input: 'Invalid input',
  rule: 'Blocked by a rule',
};

export interface RefusalFacts {
  readonly asked: string;
  readonly step: RefusingStep;
  readonly code: string | null;
  /** The message that the caller received. Null if only the caller may read it. */
  readonly message: string | null;
  readonly required_action: string | null;
  readonly seq: number;
  readonly time: number;
}

interface RefusalCardProps {
  refusal: RefusalFacts;
  /** The facts that led to the refusal, such as the grant, the overlapping task or the holder of a claim. */
  evidence?: ReactNode;
  /** A link to the page on which a person can remove the cause. */
  remedy?: ReactNode;
  command?: string;
}

/** Shows a refused call as the caller saw it: the request, the step at which it was refused, the reason, and what to do next. */
export function RefusalCard({ refusal, evidence, remedy, command }: RefusalCardProps) {
  const { asked, step, code, message, required_action, seq, time } = refusal;
  return (
    <article aria-label={`Refused: ${escapeBidi(asked)}`}>
      <Notice tone="bad">
        <p className="font-semibold">
          <UntrustedText text={asked} /> · {STEPS[step]}
        </p>
        {message === null ? <p>Only the caller can read the message.</p> : <UntrustedText text={message} />}
        {evidence && <div className="mt-1">{evidence}</div>}
        {required_action && (
          <p className="mt-1">
            <span className="font-medium">Next step: </span>
            <UntrustedText text={required_action} />
          </p>
        )}
        {remedy && <div className="mt-2 flex flex-wrap gap-2 text-text">{remedy}</div>}
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

/** Returns the step at which a call with this code was refused. If the code is not about identity, grants or input, a rule of a feature refused the call. */
export function stepOf(outcome: string, code: string | null): RefusingStep {
  if (outcome === 'denied') return code === 'OPERATOR_REQUIRED' || code === 'TOKEN_REQUIRED' || code === 'DEVELOPER_REQUIRED' ? 'identity' : 'capability';
  return code === 'INVALID_INPUT' || code === 'SCHEMA_INVALID' ? 'input' : 'rule';
}
