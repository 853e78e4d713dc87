import { type ReactNode, type SubmitEvent, useEffect, useRef, useState } from 'react';
import { ActButton } from '../../parts/act-button.tsx';
import { counted } from '../../parts/count.ts';
import { Notice } from '../../parts/tone.tsx';
import { Words } from '../../parts/words.tsx';
import { useRead } from '../../queries.ts';
import { Pair } from '../overlap/pair.tsx';
import type { Draft, PlanAnswer } from './plan-task.tsx';

interface ConfirmPlanProps {
  draft: Draft;
  answer: PlanAnswer;
  problem: ReactNode;
  pending: boolean;
  onBack: () => void;
  onConfirm: (reason: string) => void;
}

/** Nothing is stored yet: a person looks at each candidate, and says why to go on. */
export function ConfirmPlan({ draft, answer, problem, pending, onBack, onConfirm }: ConfirmPlanProps) {
  const me = useRead('identity.me', {}).data;
  const settings = useRead('overlap.list', { limit: 1 }).data?.settings;
  const [reason, setReason] = useState('');
  const section = useRef<HTMLFormElement>(null);
  useEffect(() => section.current?.focus(), []);
  const { candidates } = answer.data;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onConfirm(reason.trim());
  };
  return (
    <form ref={section} tabIndex={-1} onSubmit={submit} className="mt-3 grid gap-3 outline-none">
      <Notice tone="you" role="alert">
        {answer.message} {counted(candidates.length, 'piece of work looks', 'pieces of work look')} like yours. Nothing is planned yet.
      </Notice>
      <ul className="grid gap-4">
        {candidates.map((candidate) => (
          <li key={candidate.id}>
            <Pair
              first={{ heading: 'Your plan', title: draft.title.trim(), scope: draft.words.trim(), owner: me?.developer ?? '' }}
              second={{ heading: 'Found', ...candidate }}
              files={candidate.file_overlap}
              score={candidate.score}
              settings={settings}
              reason={candidate.reason}
              apart
            />
          </li>
        ))}
      </ul>
      <Words label="Why plan it all the same?" hint="kept with the overlap, for the team" value={reason} onChange={setReason} most={1_000} rows={2} required />
      {problem}
      <div className="flex flex-wrap justify-end gap-2">
        <button type="button" className="button" onClick={onBack}>
          Back
        </button>
        <ActButton type="submit" look="primary" pending={pending} disabled={!reason.trim()}>
          Plan it all the same
        </ActButton>
      </div>
    </form>
  );
}
