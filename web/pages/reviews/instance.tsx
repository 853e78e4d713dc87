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

/** Reads the instance whose id is in the address. All tabs of the page share this query. */
export function useInstance() {
  const { instance } = route.useParams();
  return useRead('instances.show', { instance_id: instance });
}

/** The page about one agent that the server started, with its reviews, terminal and changes. */
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
            {instance.type}, started <Time at={instance.created_at} />
          </span>
        )}
      </div>
      <Loaded query={query} what="The instance">
        {(shown) => <InstanceDetails shown={shown} />}
      </Loaded>
    </>
  );
}

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

/** Explains why no further review is started, and what a person can do. */
function AtLimit({ instance: { id, reviews, max_reviews, failed_reviews, max_failed_reviews, suggestions } }: { instance: Instance }) {
  return (
    <Notice tone="bad">
      <p className="font-medium">
        Review limit reached: {reviews} of {max_reviews} reviews used, {failed_reviews} failed. No further review of {id} starts.
      </p>
      <ul className="mt-1 list-disc pl-5">
        {suggestions.map((suggestion) => (
          <li key={suggestion}>{suggestion}</li>
        ))}
        <li>Allow one more round</li>
      </ul>
      {failed_reviews + 1 >= max_failed_reviews && <p className="mt-1">After one more failed review the instance is abandoned.</p>}
    </Notice>
  );
}

/** Shows the facts that a person needs for a decision. Other facts are folded. */
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
          Reason: status_reason !== null && <UntrustedText text={status_reason} />,
          Worktree: kept_reason !== null && <UntrustedText text={`kept: ${kept_reason}`} />,
          Backup: backup_ref !== null && <Code text={backup_ref} />,
        }}
      />
      <details>
        <summary className="w-fit cursor-pointer text-muted pointer-coarse:py-3">Process and prompt</summary>
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
            // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to focus a scroll box
            <section aria-label="Prompt" tabIndex={0} className="max-h-96 overflow-y-auto rounded-md border border-line p-3">
              <UntrustedText text={prompt} />
            </section>
          )}
        </div>
      </details>
    </div>
  );
}

const Code = ({ text }: { text: string }) => <UntrustedText text={text} className="mono" />;
