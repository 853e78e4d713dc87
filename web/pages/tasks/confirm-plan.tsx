import { type ReactNode, useEffect, useRef } from 'react';
import type { Result } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { counted } from '../../parts/count.ts';
import { Notice } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { Pair } from '../overlap/pair.tsx';
import type { Draft } from './plan-task.tsx';

interface ConfirmPlanProps {
  draft: Draft;
  answer: Result<'tasks.plan'>;
  problem: ReactNode;
  pending: boolean;
  onBack: () => void;
  onConfirm: () => void;
}

/** Nothing is stored yet: a person looks at each candidate, and says so. */
export function ConfirmPlan({ draft, answer, problem, pending, onBack, onConfirm }: ConfirmPlanProps) {
  const me = useRead('identity.me', {}).data;
  const settings = useRead('overlap.list', { limit: 1 }).data?.settings;
  const section = useRef<HTMLDivElement>(null);
  useEffect(() => section.current?.focus(), []);
  const { candidates } = answer.data;
  return (
    <div ref={section} tabIndex={-1} className="mt-3 grid gap-3 outline-none">
      <Notice tone="you" role="alert">
        {answer.message} {counted(candidates.length, 'piece of work looks', 'pieces of work look')} like yours. Nothing is planned yet.
      </Notice>
      <ul className="grid gap-4">
        {candidates.map((candidate) => (
          <li key={candidate.id}>
            <Pair
              first={{ heading: 'Your plan', title: draft.title.trim(), scope: draft.scope.trim(), owner: me?.developer ?? '' }}
              second={{ heading: 'Found', ...candidate }}
              files={candidate.file_overlap}
              score={candidate.score}
              settings={settings}
              reason={candidate.reason}
            />
          </li>
        ))}
      </ul>
      {problem}
      <div className="flex flex-wrap justify-end gap-2">
        <button type="button" className="button" onClick={onBack}>
          Back
        </button>
        <ActButton look="primary" pending={pending} onClick={onConfirm}>
          Plan it all the same
        </ActButton>
      </div>
    </div>
  );
}
