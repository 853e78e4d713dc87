import type { Thread } from '../../api.ts';
import { dateOf, Elapsed, Time, Until } from '../../parts/values.tsx';

type Step = Thread['steps'][number];
type Received = Pick<Thread, 'kind' | 'status' | 'steps' | 'recipients'>;

/** Names a step of a message. For a handoff, the last step is called "accepted" instead of "answered". */
const nameOf = ({ kind }: Received, { step }: Step): string => (kind === 'handoff' && step === 'answered' ? 'accepted' : step);

function whenOf({ state, at, count }: Step, recipients: number): string {
  if (state === 'partly') return `by ${count} of ${recipients}`;
  if (state === 'none') return 'not expected';
  if (state === 'unknown') return 'unknown';
  return at === null ? 'not yet' : dateOf(at);
}

/** Whether the answer is overdue, which is shown in red. */
const isLate = ({ status }: Received, { step, state }: Step): boolean => status === 'overdue' && step === 'answered' && state === 'open';
/** Whether the delivery is overdue, which is also shown in red. */
const isMissed = ({ status }: Received, { step, state }: Step): boolean => status === 'undelivered' && step === 'delivered' && state !== 'done';

function look(thread: Received, step: Step): string {
  if (isLate(thread, step) || isMissed(thread, step)) return 'border-bad bg-bad-tint';
  if (step.state === 'done') return step.step === 'answered' ? 'border-good bg-good' : 'border-live bg-live';
  if (step.state === 'partly') return 'border-live bg-live-tint';
  return step.state === 'open' ? 'border-control' : 'border-dotted border-control opacity-60';
}

const reached = (step: Step | undefined): boolean => step?.state === 'done' || step?.state === 'partly';

/** Shows the steps of a message, from sent to answered, as four dots. */
export function Receipts({ thread }: { thread: Received }) {
  const descriptions = thread.steps.map((step) => `${nameOf(thread, step)} ${whenOf(step, thread.recipients)}${isLate(thread, step) ? ', overdue' : ''}`);
  return (
    <span role="img" aria-label={descriptions.join('; ')} className="inline-flex items-center align-middle">
      {thread.steps.map((step, index) => (
        <span key={step.step} title={descriptions[index]} className="flex items-center">
          {index > 0 && <span className={`h-0.5 w-2.5 ${reached(step) ? 'bg-live' : 'bg-line'}`} />}
          <span className={`size-2.5 rounded-full border-2 ${look(thread, step)}`} />
        </span>
      ))}
    </span>
  );
}

/** Shows the same steps in words, with their times. */
export function ReceiptSteps({ thread }: { thread: Received }) {
  return (
    <ol className="grid grid-cols-4" aria-label="Receipts">
      {thread.steps.map((step, index) => (
        <li key={step.step} className="relative grid content-start justify-items-center gap-1 text-center text-label">
          {index > 0 && (
            <span
              aria-hidden="true"
              className={`absolute top-[5px] right-[calc(50%+8px)] left-[calc(-50%+8px)] h-0.5 ${reached(step) ? 'bg-live' : 'bg-line'}`}
            />
          )}
          <span aria-hidden="true" className={`size-3 rounded-full border-2 ${look(thread, step)}`} />
          <span className="font-medium">{nameOf(thread, step)}</span>
          <span className={isLate(thread, step) || isMissed(thread, step) ? 'text-bad' : 'text-muted'}>
            {isLate(thread, step) ? 'overdue' : step.state === 'done' && step.at !== null ? <Time at={step.at} /> : whenOf(step, thread.recipients)}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Shows when an answer is due. Empty if the thread is answered or has expired. */
export function Due({ thread: { due_at, status } }: { thread: Pick<Thread, 'due_at' | 'status'> }) {
  if (due_at === null || status === 'answered' || status === 'expired') return '—';
  if (status !== 'overdue') return <Until at={due_at} />;
  return (
    <span className="text-bad">
      <Elapsed since={due_at} /> late
    </span>
  );
}
