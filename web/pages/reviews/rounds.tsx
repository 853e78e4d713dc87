import type { ReactNode } from 'react';
import type { ShownInstance } from '../../api.ts';
import { Said } from '../../parts/said.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { outcomeTone } from './status.ts';

function Listed({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="grid gap-1.5">
      <h3 className="text-muted">{title}</h3>
      {children}
    </section>
  );
}

/** One step per review: who looked, and how it ended. */
export function Rounds({ shown: { relationships } }: { shown: ShownInstance }) {
  if (relationships.length === 0) return null;
  return (
    <Listed title="Reviews">
      <ol className="grid gap-1">
        {relationships.map(({ parent_instance, child_instance, review_iteration, outcome }) => (
          <li key={child_instance} className="flex flex-wrap items-center gap-2">
            <span className="tabular-nums">{review_iteration}.</span>
            <span className="mono">
              {child_instance} of {parent_instance}
            </span>
            <State tone={outcomeTone(outcome)}>{outcome ?? 'under way'}</State>
          </li>
        ))}
      </ol>
    </Listed>
  );
}

export function Feedback({ items }: { items: ShownInstance['feedback'] }) {
  if (items.length === 0) return null;
  return (
    <Listed title="Feedback">
      {items.map((item) => (
        <article key={item.feedback_id} className="grid gap-1 rounded-md border border-line p-3">
          <p className="flex flex-wrap items-center gap-2">
            <State tone={outcomeTone(item.feedback_type)}>{item.feedback_type}</State>
            <span>
              {item.review_instance_id}, priority {item.priority}
            </span>
            <span className="ml-auto text-muted">
              <Time at={item.created_at} />
            </span>
          </p>
          <Said text={item.feedback} />
          {item.actionable_items.length > 0 && (
            <ul className="list-disc pl-5">
              {item.actionable_items.map((action, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: they never change, and may be the same twice
                <li key={index}>
                  <Said text={action} />
                </li>
              ))}
            </ul>
          )}
          <p className="text-muted">
            {item.delivered === 'merged' ? (
              <span className="mono">merged by {item.git_commit_hash?.slice(0, 12)}</span>
            ) : (
              <Said text={item.reason ? `sent as a message: ${item.reason}` : 'being delivered'} />
            )}
          </p>
        </article>
      ))}
    </Listed>
  );
}

/** What went wrong, and where its branch stood then. */
export function Failures({ items }: { items: ShownInstance['failures'] }) {
  if (items.length === 0) return null;
  return (
    <Listed title="Failed calls">
      <ul className="grid gap-1">
        {items.map(({ time, tool, code, request_id, branch, commit }) => (
          <li key={request_id} className="flex flex-wrap items-center gap-2">
            <span className="mono">{tool}</span>
            <State tone="bad">{code ?? 'failed'}</State>
            {branch && <Said text={`on ${branch}${commit ? ` at ${commit.slice(0, 12)}` : ''}`} />}
            <span className="ml-auto text-muted">
              <Time at={time} />
            </span>
          </li>
        ))}
      </ul>
    </Listed>
  );
}
