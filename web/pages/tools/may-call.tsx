import { Link } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import type { Explanation, ForeseenAccess } from '../../api.ts';
import { CliCommand } from '../../parts/command.tsx';
import { TextField } from '../../parts/field.tsx';
import { Notice, Problem, Section, State } from '../../parts/layout.tsx';
import { TableSkeleton } from '../../parts/loaded.tsx';
import { counted, shortId, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { ANSWER_TONES, GrantLink, scopeWords } from './access.tsx';
import { type GrantSubject, isNamed, namedSubject, SubjectFields, subjectFrom, subjectText, useToolNames } from './grant-fields.tsx';

interface Question {
  who?: string | undefined;
  can?: string | undefined;
}

/** Asks the gate whether a subject may call a tool, and shows the grant that decides. */
export function MayCall({ who, can, onAsk }: Question & { onAsk: (question: Question) => void }) {
  const me = useRead('identity.me', {}).data;
  const asked = subjectFrom(who);
  // The text being typed, until another question is asked. The form stays mounted and keeps the focus.
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
    <Section title="Can they call it?" about="The gate itself answers; nothing is called.">
      <div className="panel grid gap-3 p-3">
        <form onSubmit={submit} className="grid items-end gap-2 md:grid-cols-[minmax(0,3fr)_minmax(0,2fr)_auto]">
          <SubjectFields subject={chosen} onChange={(subject) => setDraft({ ...draft, subject })} />
          <TextField label="Tool" mono required max={200} placeholder="echo" choices={names} value={tool} onChange={(typed) => setDraft({ ...draft, typed })} />
          <button type="submit" className="button button-primary" disabled={!isNamed(chosen) || tool.trim() === ''}>
            Ask
          </button>
        </form>
        {asked && can && <Answers subject={asked} tool={can} />}
      </div>
    </Section>
  );
}

function Answers({ subject, tool }: { subject: GrantSubject; tool: string }) {
  const { data, error, refetch } = useRead('capabilities.explain', { ...namedSubject(subject), name: tool });
  if (error) return <Problem what="The question could not be answered." error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  const refused = data.answers.some(({ answer }) => answer === 'no');
  return (
    <div role="status" aria-label={`Whether they can call ${tool}`} className="grid gap-2">
      <ul className="grid gap-1.5">
        {data.answers.map((foreseen) => (
          <li key={foreseen.subject} className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5">
            <AnswerLine foreseen={foreseen} />
          </li>
        ))}
      </ul>
      {data.more > 0 && <p className="text-muted">And {counted(data.more, 'more token')}; ask for one by its id.</p>}
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
          ): {scopeWords(grant)}
        </span>
      )}
      {answer === 'open' && <span className="text-muted">It needs no grant.</span>}
    </>
  );
}

/** Whether the tool exists and is available now, which a grant does not say. */
function ToolAvailability({ tool, explanation }: { tool: string; explanation: Explanation }) {
  if (explanation.tool === null) {
    return (
      <Notice tone="wait">
        There is no tool <UntrustedText text={tool} /> in the catalogue now.
      </Notice>
    );
  }
  const { server, state } = explanation.tool;
  if (state === 'up') return null;
  if (state === 'withheld') {
    return (
      <Notice tone="you">
        It is withheld: until its definition is approved nobody can call it.{' '}
        <Link to="/tools/changes" className="underline underline-offset-2">
          Look at it
        </Link>
      </Notice>
    );
  }
  return (
    <Notice tone="wait">
      Its server <UntrustedText text={server} /> is {state}.
    </Notice>
  );
}

/** No grant can have a name that no tool can have. */
const GRANTABLE = /^tool\.call\.[A-Za-z0-9_.-]{1,128}$/;

function Missing({ subject, explanation: { capability } }: { subject: GrantSubject; explanation: Explanation }) {
  if (!GRANTABLE.test(capability)) return null;
  return (
    <div className="grid gap-2">
      <p className="text-muted">
        What is missing: <code>{capability}</code>
      </p>
      <CliCommand words={`capabilities grant ${capability}`} options={namedSubject(subject)} />
      <div>
        <GrantLink action={capability} who={subjectText(subject)} />
      </div>
    </div>
  );
}
