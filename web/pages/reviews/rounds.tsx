import { Link } from '@tanstack/react-router';
import type { Instance, ShownInstance } from '../../api.ts';
import { Section, State, type Tone } from '../../parts/layout.tsx';
import { counted, Time } from '../../parts/values.tsx';
import { AT_WORK_STATUSES, outcomeTone, statusWords } from './status.ts';

type Round = ShownInstance['relationships'][number];

/** Shows the review rounds of an instance in order, and how they ended. The History tab shows the same rounds as a table. */
export function Rounds({ shown: { instance, relationships } }: { shown: ShownInstance }) {
  if (instance.type === 'planning') return null;
  const end = endOf(instance, relationships);
  return (
    <Section title="Rounds" about={instance.type === 'coding' ? `${instance.reviews} of at most ${instance.max_reviews}` : undefined}>
      <ol aria-label="Rounds" className="flex gap-y-2 max-sm:flex-col sm:flex-wrap">
        {relationships.map((round) => (
          <Step key={round.child_instance} tone={outcomeTone(round.outcome)} word={statusWords(round.outcome)} label={`Round ${round.review_iteration}`}>
            <Link to="/reviews/$instance" params={{ instance: other(round, instance) }} className="mono text-label hover:underline">
              {other(round, instance)}
            </Link>
            <span className="text-label text-muted">
              <Time at={round.ended_at ?? round.created_at} />
            </span>
          </Step>
        ))}
        {end && (
          <Step tone={end.tone} word={end.word} label={end.label} last>
            <span className="text-label text-muted">{end.about}</span>
          </Step>
        )}
      </ol>
    </Section>
  );
}

const other = ({ parent_instance, child_instance }: Round, { id }: Instance): string => (child_instance === id ? parent_instance : child_instance);

interface StepProps {
  label: string;
  tone: Tone;
  word: string;
  last?: boolean;
  children: React.ReactNode;
}

function Step({ label, tone, word, last = false, children }: StepProps) {
  return (
    <li className="flex min-w-0 max-sm:flex-col sm:items-center">
      <div
        className={`min-w-36 self-stretch rounded-md border px-3 py-2 max-sm:flex max-sm:flex-wrap max-sm:items-center max-sm:gap-x-2 sm:grid sm:content-start sm:justify-items-start sm:gap-0.5 ${last ? 'border-dashed border-control' : 'border-line'}`}
      >
        <span className="text-label font-medium">{label}</span>
        <State tone={tone}>{word}</State>
        {children}
      </div>
      <span aria-hidden="true" className="bg-control in-[li:last-child]:hidden max-sm:ml-6 max-sm:h-3 max-sm:w-px sm:h-px sm:w-6" />
    </li>
  );
}

interface End {
  readonly label: string;
  readonly word: string;
  readonly tone: Tone;
  readonly about: string;
}

/** Returns how the rounds ended: at the limit, with a pull request, abandoned, or still open for more. */
function endOf(instance: Instance, rounds: readonly Round[]): End | undefined {
  const { type, status, reviews, max_reviews, failed_reviews, max_failed_reviews, pr_number } = instance;
  if (type !== 'coding') return undefined;
  if (pr_number !== null)
    return { label: 'Result', word: `pull request #${pr_number}`, tone: status === 'pr_merged' ? 'good' : 'live', about: statusWords(status) };
  if (status === 'abandoned') return { label: 'Ended', word: 'abandoned', tone: 'bad', about: `${failed_reviews} of ${max_failed_reviews} failed` };
  if (!AT_WORK_STATUSES.includes(status)) return { label: 'Ended', word: statusWords(status), tone: 'quiet', about: 'no pull request' };
  if (instance.at_limit)
    return { label: 'Stopped at', word: `limit ${reviews}/${max_reviews}`, tone: 'bad', about: `${failed_reviews} of ${max_failed_reviews} failed` };
  if (rounds.at(-1)?.outcome === 'timeout') return { label: 'Last round', word: 'timeout', tone: 'wait', about: left(max_reviews - reviews) };
  return {
    label: rounds.length === 0 ? 'No review yet' : 'Open',
    word: left(max_reviews - reviews),
    tone: 'quiet',
    about: `${failed_reviews} of ${max_failed_reviews} failed`,
  };
}

const left = (count: number): string => `${counted(count, 'round')} left`;
