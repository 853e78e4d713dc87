import { Link } from '@tanstack/react-router';
import type { Instance, ShownInstance } from '../../api.ts';
import { AgentName } from '../../parts/agent-name.tsx';
import { UntrustedText, workerOf } from '../../parts/said.tsx';
import { Fact, Facts } from '../../parts/side-panel.tsx';
import { PullLink } from './pull-link.tsx';
import { processOf } from './status.ts';

const PRIVATE = '@private';

/** What decides stands there; where it lies and what it was told is unfolded. */
export function InstanceFacts({ shown: { instance, prompt } }: { shown: ShownInstance }) {
  return (
    <div className="grid gap-2">
      <Facts>
        <Fact name="Agent">
          <AgentName name={nameOf(instance)} id={instance.developer === PRIVATE ? null : instance.id} />
        </Fact>
        {instance.parent_instance_id && (
          <Fact name="Reviews">
            <Link to="/reviews/$instance" params={{ instance: instance.parent_instance_id }} className="link mono">
              {instance.parent_instance_id}
            </Link>
            {instance.review_iteration !== null && `, round ${instance.review_iteration}`}
          </Fact>
        )}
        <Fact name="Branch">
          <span className="mono">
            <UntrustedText text={instance.branch} />
          </span>{' '}
          from{' '}
          <span className="mono">
            <UntrustedText text={instance.base_branch} />
          </span>
        </Fact>
        {instance.pr_number !== null && (
          <Fact name="Pull request">
            <PullLink instance={instance} />
          </Fact>
        )}
        {instance.status_reason && (
          <Fact name="Why">
            <UntrustedText text={instance.status_reason} />
          </Fact>
        )}
        {instance.kept_reason && (
          <Fact name="Kept">
            <UntrustedText text={`its worktree is still there: ${instance.kept_reason}`} />
          </Fact>
        )}
        {instance.backup_ref && (
          <Fact name="Backup">
            <span className="mono">{instance.backup_ref}</span>
          </Fact>
        )}
      </Facts>
      <details>
        <summary className="w-fit cursor-pointer text-muted pointer-coarse:py-3">Where it runs, and what it was told</summary>
        <div className="mt-2 grid gap-3">
          <Facts>
            <Fact name="Process">{processOf(instance)}</Fact>
            <Fact name="Worktree">
              <span className="mono">
                <UntrustedText text={instance.worktree_path} />
              </span>
            </Fact>
            <Fact name="Repository">
              <span className="mono">
                <UntrustedText text={instance.repository} />
              </span>
            </Fact>
            <Fact name="Machine">
              <UntrustedText text={instance.machine} />
            </Fact>
            <Fact name="Issue">{instance.issue_number === null ? undefined : `#${instance.issue_number}`}</Fact>
          </Facts>
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

const nameOf = ({ developer, agent }: Instance): string => (developer === null ? agent : workerOf(developer, agent));
