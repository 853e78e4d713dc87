import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import type { Instance, ShownInstance } from '../../api.ts';
import { Facts } from '../../parts/facts.tsx';
import { Notice, State } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { AgentName, PRIVATE_DEVELOPER, Time, UntrustedText, workerOf } from '../../parts/values.tsx';
import { Views } from '../../parts/views.tsx';
import { useRead } from '../../queries.ts';
import { InstanceActions } from './instance-actions.tsx';
import { PullLink } from './pull-link.tsx';
import { Rounds } from './rounds.tsx';
import { processOf, STATUS_TONES, statusWords } from './status.ts';

const route = getRouteApi('/reviews/$instance');

/** The instance of the address, as every view of its page reads it. */
export function useInstance() {
  const { instance } = route.useParams();
  return useRead('instances.show', { instance_id: instance });
}

/** An agent that the server has started: its reviews, its terminal and its changes. */
export function InstancePage() {
  const { instance: id } = route.useParams();
  const query = useInstance();
  const instance = query.data?.instance;
  return (
    <>
      <title>{`${id} · Covenant`}</title>
      <p className="text-label">
        <Link to="/reviews" className="link">
          Reviews
        </Link>
      </p>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="mono text-title!">{id}</h1>
        {instance && <State tone={STATUS_TONES[instance.status]}>{statusWords(instance.status)}</State>}
        {instance && (
          <span className="text-muted">
            {instance.type}, started <Time at={instance.created_at} /> {isDate(instance.created_at) ? '' : 'ago'}
          </span>
        )}
      </div>
      <Loaded query={query} what="It">
        {(shown) => <InstanceDetails shown={shown} />}
      </Loaded>
    </>
  );
}

const DAY_MS = 24 * 60 * 60_000;
const isDate = (at: number): boolean => Date.now() - at >= DAY_MS;

function InstanceDetails({ shown }: { shown: ShownInstance }) {
  const { instance, feedback } = shown;
  const params = { instance: instance.id };
  return (
    <>
      <div className="mt-3 grid gap-4">
        {instance.at_limit && <AtLimit instance={instance} />}
        <InstanceActions instance={instance} />
        <Rounds shown={shown} />
        <InstanceFacts shown={shown} />
      </div>
      <Views
        label="Views of this instance"
        views={[
          { to: '/reviews/$instance', params, label: 'Terminal' },
          { to: '/reviews/$instance/diff', params, label: 'Diff' },
          { to: '/reviews/$instance/feedback', params, label: 'Feedback', count: feedback.length },
          { to: '/reviews/$instance/history', params, label: 'History' },
        ]}
      />
      <Outlet />
    </>
  );
}

/** Why no further review is granted, and what can be done instead. */
function AtLimit({ instance: { id, reviews, max_reviews, failed_reviews, max_failed_reviews, suggestions } }: { instance: Instance }) {
  return (
    <Notice tone="bad">
      <p className="font-medium">
        Review limit reached: {id} has had {reviews} of {max_reviews} reviews, {failed_reviews} failed. No further review is started.
      </p>
      <ul className="mt-1 list-disc pl-5">
        {suggestions.map((suggestion) => (
          <li key={suggestion}>{suggestion}</li>
        ))}
        <li>Allow one more round, if another look is worth it</li>
      </ul>
      {failed_reviews + 1 >= max_failed_reviews && <p className="mt-1">One more failed review, and it is abandoned.</p>}
    </Notice>
  );
}

/** The facts that decide what to do next; the rest is folded. */
function InstanceFacts({ shown: { instance, prompt } }: { shown: ShownInstance }) {
  const { developer, agent, parent_instance_id, review_iteration, status_reason, kept_reason, backup_ref, issue_number } = instance;
  return (
    <div className="grid gap-2">
      <Facts
        facts={{
          Agent: <AgentName name={developer === null ? agent : workerOf(developer, agent)} id={developer === PRIVATE_DEVELOPER ? null : instance.id} />,
          Reviews: parent_instance_id !== null && (
            <>
              <Link to="/reviews/$instance" params={{ instance: parent_instance_id }} className="link mono">
                {parent_instance_id}
              </Link>
              {review_iteration !== null && `, round ${review_iteration}`}
            </>
          ),
          Branch: (
            <>
              <Code text={instance.branch} /> from <Code text={instance.base_branch} />
            </>
          ),
          'Pull request': instance.pr_number !== null && <PullLink instance={instance} />,
          Why: status_reason !== null && <UntrustedText text={status_reason} />,
          Kept: kept_reason !== null && <UntrustedText text={`its worktree is still there: ${kept_reason}`} />,
          Backup: backup_ref !== null && <Code text={backup_ref} />,
        }}
      />
      <details>
        <summary className="w-fit cursor-pointer text-muted pointer-coarse:py-3">Where it runs, and what it was told</summary>
        <div className="mt-2 grid gap-3">
          <Facts
            facts={{
              Process: processOf(instance),
              Worktree: <Code text={instance.worktree_path} />,
              Repository: <Code text={instance.repository} />,
              Machine: <UntrustedText text={instance.machine} />,
              Issue: issue_number === null ? null : `#${issue_number}`,
            }}
          />
          {prompt && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
            <section aria-label="What it was told" tabIndex={0} className="max-h-96 overflow-y-auto rounded-md border border-line p-3">
              <UntrustedText text={prompt} />
            </section>
          )}
        </div>
      </details>
    </div>
  );
}

const Code = ({ text }: { text: string }) => <UntrustedText text={text} className="mono" />;
