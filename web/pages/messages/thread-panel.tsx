import type { ShownThread } from '../../api.ts';
import { AgentName } from '../../parts/agent-name.tsx';
import { counted } from '../../parts/count.ts';
import { Id } from '../../parts/id.tsx';
import { PathLink } from '../../parts/path-link.tsx';
import { Problem } from '../../parts/problem.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { Section } from '../../parts/section.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { Answer } from './answer.tsx';
import { Entries, Recipients } from './entries.tsx';
import { ReceiptSteps } from './receipts.tsx';
import { Remind } from './remind.tsx';
import { HIDDEN, kindOf, toneOf } from './status.ts';
import { Due } from './thread-columns.tsx';

export function ThreadPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error, refetch } = useRead('messages.thread', { id });
  return (
    <SidePanel title={data ? (data.thread.subject ?? HIDDEN) : 'Thread'} onClose={onClose}>
      {error && <Problem what="It could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {data && <Shown shown={data} />}
    </SidePanel>
  );
}

function Shown({ shown }: { shown: ShownThread }) {
  const { thread } = shown;
  return (
    <>
      <ReceiptSteps thread={thread} />
      <Facts>
        <Fact name="State">
          <State tone={toneOf(thread)}>{thread.status}</State>
        </Fact>
        <Fact name="Kind">{kindOf(thread)}</Fact>
        <Fact name="From">
          <AgentName name={thread.from.name} id={thread.from.agent_id} brief={false} />
        </Fact>
        <Fact name="To">
          {thread.recipients > 1 ? counted(thread.recipients, 'agent') : <AgentName name={thread.to.name} id={thread.to.agent_id} brief={false} />}
        </Fact>
        {thread.due_at !== null && (
          <Fact name="Due">
            <Due thread={thread} />
          </Fact>
        )}
        {thread.priority && thread.priority !== 'normal' && <Fact name="Priority">{thread.priority}</Fact>}
        <Fact name="Sent">
          <Time at={thread.sent_at} />
        </Fact>
        <About about={shown.about} />
        <Fact name="Id">
          <Id id={thread.id} />
        </Fact>
      </Facts>
      <Section title="What was said">
        <Entries entries={shown.entries} cut={shown.entries_cut} />
      </Section>
      {shown.recipients.length > 0 && (
        <Section title="Recipients" about={counted(thread.recipients, 'agent')}>
          <Recipients recipients={shown.recipients} of={thread.recipients} />
        </Section>
      )}
      {thread.answerable && <Answer thread={thread} />}
      {!thread.answerable && shown.remindable_from !== null && <Remind thread={thread} from={shown.remindable_from} />}
    </>
  );
}

/** What it is about, each with the way there. */
function About({ about }: { about: ShownThread['about'] }) {
  const { repo, branch, paths, task_ids, claim_ids, context_id, workflow_id, workflow_task_id } = about;
  return (
    <>
      {repo !== null && (
        <Fact name="Repository">
          <UntrustedText text={repo} />
        </Fact>
      )}
      {branch !== null && (
        <Fact name="Branch">
          <UntrustedText text={branch} />
        </Fact>
      )}
      {paths.length > 0 && (
        <Fact name="Paths">
          <span className="mono">
            <UntrustedText text={paths.join('\n')} />
          </span>
        </Fact>
      )}
      {task_ids.length > 0 && (
        <Fact name="Tasks">
          <Ids ids={task_ids} to={(id) => `/tasks?task=${id}`} />
        </Fact>
      )}
      {claim_ids.length > 0 && (
        <Fact name="Claims">
          <Ids ids={claim_ids} to={(id) => `/tasks/claims?claim=${id}`} />
        </Fact>
      )}
      {context_id !== null && (
        <Fact name="Context">
          <Id id={context_id} />
        </Fact>
      )}
      {workflow_id !== null && (
        <Fact name="Workflow">
          <PathLink path={`/workflows/${workflow_id}${workflow_task_id === null ? '' : `?task=${workflow_task_id}`}`} className="link">
            {workflow_task_id === null ? 'Open workflow' : 'Open task'}
          </PathLink>
        </Fact>
      )}
    </>
  );
}

function Ids({ ids, to }: { ids: readonly string[]; to: (id: string) => string }) {
  return (
    <span className="flex flex-wrap gap-x-3">
      {ids.map((id) => (
        <PathLink key={id} path={to(id)} className="link mono">
          {id.replace(/^([a-z]+)_.*(.{6})$/, '$1_…$2')}
        </PathLink>
      ))}
    </span>
  );
}
