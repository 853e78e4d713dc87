import { Link } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import type { Explanation, ForeseenAccess } from '../../api.ts';
import { CliCommand } from '../../parts/command.tsx';
import { TextField } from '../../parts/field.tsx';
import { Notice, Problem, Section, State } from '../../parts/layout.tsx';
import { TableSkeleton } from '../../parts/loaded.tsx';
import { counted, shortId, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { ANSWER_TONES, GrantLink, ScopeOf } from './access.tsx';
import { type GrantSubject, isNamed, namedSubject, SubjectFields, subjectFrom, subjectText, useToolNames } from './grant-fields.tsx';

interface Question {
  who?: string | undefined;
  can?: string | undefined;
}

/** The form that checks whether a subject may call a tool. The result shows which grant decides. */
export function MayCall({ who, can, onAsk }: Question & { onAsk: (question: Question) => void }) {
  const me = useRead('identity.me', {}).data;
  const asked = subjectFrom(who);
  // What the person has typed since the last change of the address. The form is not replaced when the address changes, so that it keeps the focus.
  const [draft, setDraft] = useState<Question & { subject?: GrantSubject; typed?: string }>({});
  if (draft.who !== who || draft.can !== can) setDraft({ who, can });
  const chosen = draft.subject ?? asked ?? { kind: 'developer', name: me?.developer ?? '' };
  const tool = draft.typed ?? can ?? '';
  const names = useToolNames(tool);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onAsk({ who: subjectText({ ...chosen, name: chosen.name.trim() }), can: tool.trim() });
  };
  return (
    <Section title="Access check" about="Checks the grants without calling the tool.">
      <div className="panel grid gap-3 p-3">
        <form onSubmit={submit} className="grid items-end gap-2 md:grid-cols-[minmax(0,3fr)_minmax(0,2fr)_auto]">
          <SubjectFields subject={chosen} onChange={(subject) => setDraft({ ...draft, subject })} />
          <TextField label="Tool" mono required max={200} placeholder="echo" choices={names} value={tool} onChange={(typed) => setDraft({ ...draft, typed })} />
          <button type="submit" className="button button-primary" disabled={!isNamed(chosen) || tool.trim() === ''}>
            Check
          </button>
        </form>
        {asked && can && <Answers subject={asked} tool={can} />}
      </div>
    </Section>
  );
}

function Answers({ subject, tool }: { subject: GrantSubject; tool: string }) {
  const { data, error, refetch } = useRead('capabilities.explain', { ...namedSubject(subject), name: tool });
  if (error) return <Problem what="The access could not be checked." error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  const refused = data.answers.some(({ answer }) => answer === 'no');
  return (
    <div role="status" aria-label={`Access to ${tool}`} className="grid gap-2">
      <ul className="grid gap-1.5">
        {data.answers.map((foreseen) => (
          <li key={foreseen.subject} className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5">
            <AnswerLine foreseen={foreseen} />
          </li>
        ))}
      </ul>
      {data.more > 0 && <p className="text-muted">{counted(data.more, 'more token')} not shown. To check one, choose Token and enter its id.</p>}
      <ToolAvailability tool={tool} explanation={data} />
      {refused && <Missing subject={subject} explanation={data} />}
    </div>
  );
}

function AnswerLine({ foreseen: { answer, name, label, message, grant } }: { foreseen: ForeseenAccess }) {
  return (
    <>
      <State tone={answer === 'no' ? 'bad' : ANSWER_TONES[answer]}>{answer}</State>
      <UntrustedText text={name} className="font-medium" />
      {label && <UntrustedText text={label} className="text-muted" />}
      {message !== null && <UntrustedText text={message} />}
      {grant && (
        <span>
          by{' '}
          <Link to="/tools/grants" search={{ grant: grant.grant_id }} className="link mono">
            {shortId(grant.grant_id)}
          </Link>{' '}
          (<UntrustedText text={grant.action} /> to <UntrustedText text={grant.subject_name} />
          ): <ScopeOf grant={grant} />
        </span>
      )}
      {answer === 'open' && <span className="text-muted">No grant needed.</span>}
    </>
  );
}

/** Shows whether the tool exists and can be called at all. Grants do not matter for this. */
function ToolAvailability({ tool, explanation }: { tool: string; explanation: Explanation }) {
  if (explanation.tool === null) {
    return (
      <Notice tone="wait">
        Tool <UntrustedText text={tool} /> is not in the catalogue.
      </Notice>
    );
  }
  const { server, state } = explanation.tool;
  if (state === 'up') return null;
  if (state === 'withheld') {
    return (
      <Notice tone="you">
        Withheld: the tool cannot be called until its definition is approved.{' '}
        <Link to="/tools/changes" className="underline underline-offset-2">
          Review
        </Link>
      </Notice>
    );
  }
  return (
    <Notice tone="wait">
      Server <UntrustedText text={server} /> is {state}.
    </Notice>
  );
}

/** Matches the actions that a grant can contain. */
const GRANTABLE = /^tool\.call\.[A-Za-z0-9_.-]{1,128}$/;

function Missing({ subject, explanation: { capability } }: { subject: GrantSubject; explanation: Explanation }) {
  if (!GRANTABLE.test(capability)) return null;
  return (
    <div className="grid gap-2">
      <p className="text-muted">
        Missing: <code>{capability}</code>
      </p>
      <CliCommand words={`capabilities grant ${capability}`} options={namedSubject(subject)} />
      <div>
        <GrantLink action={capability} who={subjectText(subject)} />
      </div>
    </div>
  );
}
