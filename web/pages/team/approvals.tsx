import { useState } from 'react';
import type { Approval } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Section } from '../../parts/section.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { ApprovalForm, type Decided } from './approval-form.tsx';

/** Calls that wait for a person. Not there while none does. */
export function Approvals({ items, cut, error, onRetry }: { items: readonly Approval[]; cut: boolean; error: unknown; onRetry: () => void }) {
  const [decided, setDecided] = useState<Decided>();
  if (!error && items.length === 0 && !decided) return null;
  return (
    <Section title="Calls to approve" about={items.length > 0 && `${cut ? 'more than ' : ''}${counted(items.length, 'call')}`}>
      {Boolean(error) && <Problem what="The calls to approve could not be read." error={error} onRetry={onRetry} />}
      {decided && (
        <Notice key={decided.id} tone="good" role="status">
          {decided.words}
        </Notice>
      )}
      {items.length > 0 && (
        <ul className="panel divide-y divide-line">
          {items.map((approval) => (
            <li key={approval.approval_id} className="px-3 py-2.5">
              <ApprovalForm approval={approval} onDecided={setDecided} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** An approval ends by time alone. */
const LOOK_MS = 30_000;

/** Only who may decide is asked, and asks. */
export function useApprovals() {
  const mayDecide = useRead('identity.me', {}).data?.operator === true;
  const { data, error, refetch } = useRead('approvals.list', {}, { everyMs: LOOK_MS, enabled: mayDecide });
  return { items: data?.items ?? [], cut: data?.cut ?? false, error, onRetry: () => void refetch() };
}
