import { Link } from '@tanstack/react-router';
import type { ShownInstance } from '../../api.ts';
import { EmptyState, State } from '../../parts/layout.tsx';
import { TextList, Time, UntrustedText } from '../../parts/values.tsx';
import { useInstance } from './instance.tsx';
import { outcomeTone, statusWords } from './status.ts';

/** The page with the feedback from reviews, newest first. */
export function FeedbackView() {
  const { data } = useInstance();
  if (!data) return null;
  const { feedback } = data;
  return (
    <section aria-label="Feedback" className="grid max-w-4xl gap-3">
      {feedback.length === 0 && (
        <EmptyState>
          <p>No feedback yet. It appears here when a review of {data.instance.id} sends it. The agent starts one with request_review.</p>
        </EmptyState>
      )}
      {feedback.map((item) => (
        <FeedbackItem key={item.feedback_id} item={item} />
      ))}
    </section>
  );
}

function FeedbackItem({ item }: { item: ShownInstance['feedback'][number] }) {
  return (
    <article aria-label={`Round ${item.review_iteration}`} className="grid gap-2 rounded-md border border-line p-3">
      <p className="flex flex-wrap items-center gap-2">
        <State tone={outcomeTone(item.feedback_type)}>{statusWords(item.feedback_type)}</State>
        <span>
          Round {item.review_iteration} by{' '}
          <Link to="/reviews/$instance" params={{ instance: item.review_instance_id }} className="link mono">
            {item.review_instance_id}
          </Link>
          , priority {item.priority}
        </span>
        <span className="ml-auto text-muted">
          <Time at={item.created_at} />
        </span>
      </p>
      <UntrustedText text={item.feedback} />
      {item.actionable_items.length > 0 && <TextList texts={item.actionable_items} />}
      <p className="text-muted">
        {item.delivered === 'merged' ? (
          <>
            Merged into the branch as <code>REVIEW_FEEDBACK.md</code> by <code>{item.git_commit_hash?.slice(0, 12)}</code>
          </>
        ) : (
          <UntrustedText text={item.reason ? `Sent as a message because the merge failed: ${item.reason}` : 'Delivery in progress'} />
        )}
      </p>
    </article>
  );
}
