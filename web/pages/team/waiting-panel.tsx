import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { Approval, Overlap, Question, ShownThread, WaitingItem } from '../../api.ts';
import { CliCommand } from '../../parts/command.tsx';
import { Problem } from '../../parts/layout.tsx';
import { type ReadResult, TableSkeleton } from '../../parts/loaded.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { useToast } from '../../parts/toast.tsx';
import { counted, Id, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import type { NowSearch } from '../../search.ts';
import { DismissForm } from '../overlap/dismiss-form.tsx';
import { AnswerForm, AskForm } from './answer-form.tsx';
import { ApprovalForm } from './approval-form.tsx';

type Opened = { readonly question: Question } | { readonly approval: Approval } | { readonly ask: ShownThread } | { readonly overlap: Overlap };

function whatHappensNext(taskStatus: string | null): string {
  if (taskStatus === null) return 'The agent receives the answer as a message.';
  // If the task is pending, the agent that asked the question does not hold the task anymore.
  return taskStatus === 'pending' ? 'The task is open for any agent to claim.' : 'The task continues.';
}

/** The panel of an item that waits for the person, with the form to answer or decide it. */
export function WaitingPanel({ opened, items, isRead }: { opened: NowSearch; items: readonly WaitingItem[]; isRead: boolean }) {
  const navigate = useNavigate();
  const say = useToast();
  const id = opened.question ?? opened.approval ?? opened.ask ?? opened.overlap;
  const { whole, query } = useOpenedItem(items.find((item) => item.id === id) ?? {});
  const item = useKeptItem(id, whole);
  const close = (): void => void navigate({ to: '/', search: {}, resetScroll: false });
  // If the person opens another page or panel while the answer is being sent, that page must stay open.
  const shown = useRef<string | undefined>(undefined);
  useEffect(() => {
    shown.current = id;
    return () => {
      shown.current = undefined;
    };
  }, [id]);
  const done = (words: string): void => {
    if (shown.current === id) close();
    say(words);
  };
  if (id === undefined) return null;
  const error = query?.error ?? null;
  const isLoading = !item && !error && (query ? query.data === undefined || query.isFetching : !isRead);
  return (
    <SidePanel key={id} title={item ? titleOf(item) : titleWithout(error, isLoading)} onClose={close}>
      {item && <Settling item={item} onDone={done} />}
      {isLoading && <TableSkeleton />}
      {!item && error && <Problem what="The item could not be loaded." error={error} onRetry={() => void query?.refetch()} />}
      {!item && !error && !isLoading && (
        <p>
          <Id id={id} /> was settled, has expired, or does not wait on you.
        </p>
      )}
    </SidePanel>
  );
}

function titleWithout(error: Error | null, isLoading: boolean): string {
  if (error) return 'Item not loaded';
  return isLoading ? 'What waits on you' : 'Nothing to decide';
}

function Settling({ item, onDone }: { item: Opened; onDone: (words: string) => void }) {
  if ('question' in item) {
    return (
      <>
        <AnswerForm question={item.question} onAnswered={(taskStatus) => onDone(`Answered. ${whatHappensNext(taskStatus)}`)} />
        <CliCommand words={`messages answer ${item.question.question_id}`} text="Your answer" />
      </>
    );
  }
  if ('approval' in item) return <ApprovalForm approval={item.approval} onDecided={onDone} />;
  if ('ask' in item) return <AskForm ask={item.ask} onAnswered={() => onDone('Answered. The agent receives the answer with its next heartbeat.')} />;
  return <OverlapForm overlap={item.overlap} onDismissed={() => onDone('Dismissed. If a check requires a verdict, the agent must still give one.')} />;
}

function titleOf(item: Opened): string {
  if ('overlap' in item) return item.overlap.title;
  return 'question' in item ? 'Question' : 'approval' in item ? 'Held call' : 'Ask from a teammate';
}

/** Reads the whole open item, as long as it still waits for the person. */
function useOpenedItem({ kind, id = '' }: Partial<WaitingItem>): {
  whole?: Opened | undefined;
  query?: ReadResult<unknown> & { readonly isFetching: boolean };
} {
  const questions = useRead('questions.list', {}, { enabled: kind === 'question' });
  const approvals = useRead('approvals.list', {}, { enabled: kind === 'call' });
  const thread = useRead('messages.thread', { id }, { enabled: kind === 'ask' });
  const warning = useRead('overlap.show', { warning_id: id }, { enabled: kind === 'overlap' });
  const question = questions.data?.items.find(({ question_id }) => question_id === id);
  const approval = approvals.data?.items.find(({ approval_id }) => approval_id === id);
  if (kind === 'question') return { query: questions, whole: question && { question } };
  if (kind === 'call') return { query: approvals, whole: approval && { approval } };
  if (kind === 'ask') return { query: thread, whole: thread.data && { ask: thread.data } };
  if (kind === 'overlap') return { query: warning, whole: warning.data && { overlap: warning.data.overlap } };
  return {};
}

/**
 * If somebody else answers the open item, keeps it open, so that the person does not lose what they are writing. When they send it, the server reports the
 * conflict.
 */
function useKeptItem(id: string | undefined, found: Opened | undefined): Opened | undefined {
  const [kept, setKept] = useState<{ id: string; item: Opened }>();
  if (id !== undefined && found && kept?.id !== id) setKept({ id, item: found });
  return found ?? (kept?.id === id ? kept?.item : undefined);
}

const LISTED = 5;

/** Shows the similar work, and the form to dismiss the warning. */
function OverlapForm({ overlap, onDismissed }: { overlap: Overlap; onDismissed: () => void }) {
  const { warning_id, matches } = overlap;
  return (
    <div className="grid gap-3">
      <p className="text-muted">Similar to {counted(matches.length, 'other work item')}:</p>
      <ul className="grid gap-2">
        {matches.slice(0, LISTED).map(({ id, title, owner, status, reason: why }) => (
          <li key={id} className="panel px-3 py-2">
            <p className="font-medium">
              <UntrustedText text={title} brief />
            </p>
            <p className="text-muted">
              <UntrustedText text={`${owner} · ${status} · ${why}`} brief />
            </p>
          </li>
        ))}
      </ul>
      <Link to="/tasks/overlaps" search={{ warning: warning_id }} className="button justify-self-start">
        Compare side by side
      </Link>
      <DismissForm overlap={overlap} onDismissed={onDismissed} />
    </div>
  );
}
