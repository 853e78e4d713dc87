import type { ShownWorkflowTask } from '../../api.ts';
import { AgentName } from '../../parts/agent-name.tsx';
import { counted } from '../../parts/count.ts';
import { Id } from '../../parts/id.tsx';
import { Problem } from '../../parts/problem.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { Scrolled } from '../../parts/scrolled.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Notice, State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { Checkpoints } from './checkpoints.tsx';
import { ContextPreview } from './context-preview.tsx';
import { Dependencies, HeldUp } from './dependencies.tsx';
import { Lease } from './next-tasks.tsx';
import { Part } from './part.tsx';
import { Lines } from './plan.tsx';
import { said, TASK_TONES } from './status.ts';
import { TaskActions } from './task-actions.tsx';
import { TaskQuestion } from './task-question.tsx';

/** Leases run out by time alone. */
const LOOK_MS = 15_000;

/** One task: where it stands, why, and what is on record of it. */
export function TaskPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error, refetch } = useRead('workflows.task', { task_id: id }, { everyMs: LOOK_MS });
  return (
    <SidePanel title={data?.task.name ?? 'Task'} onClose={onClose}>
      {error && <Problem what="The task could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {data && <Shown shown={data} />}
    </SidePanel>
  );
}

function Shown({ shown }: { shown: ShownWorkflowTask }) {
  const { task, question } = shown;
  return (
    <>
      {question && <TaskQuestion question={question} />}
      {task.status === 'failed' && task.error && (
        <Notice tone="bad">
          <p className="font-medium">It failed:</p>
          <Scrolled label="Why it failed" className="max-h-48">
            <UntrustedText text={task.error} />
          </Scrolled>
        </Notice>
      )}
      <HeldUp shown={shown} />
      <TaskFacts shown={shown} />
      <TaskActions shown={shown} />
      <Part title="Plan">
        <Plan plan={task.plan} />
      </Part>
      <Dependencies shown={shown} />
      <Checkpoints task={task.id} count={task.checkpoint_count} />
      <ContextPreview task={task.id} />
    </>
  );
}

function TaskFacts({ shown: { task, claim, completed_by } }: { shown: ShownWorkflowTask }) {
  return (
    <Facts>
      <Fact name="Status">
        <State tone={TASK_TONES[task.status]}>{said(task.status)}</State>
      </Fact>
      <Fact name="Claim">
        {claim ? (
          <span className="flex flex-wrap gap-x-2">
            <AgentName name={claim.agent_name} id={claim.agent_page} />
            {claim.claimed_at !== null && (
              <span>
                for <Time at={claim.claimed_at} />
              </span>
            )}
            <span className="text-muted">{claim.lease_expires_at === null ? 'lease expired' : <Lease at={claim.lease_expires_at} />}</span>
            <span className="text-muted">fence {claim.fence}</span>
          </span>
        ) : (
          <span className="text-muted">nobody holds it</span>
        )}
      </Fact>
      {task.outcome && (
        <Fact name="Outcome">
          <Scrolled label="Its outcome" className="max-h-48">
            <UntrustedText text={task.outcome} />
          </Scrolled>
        </Fact>
      )}
      {completed_by && (
        <Fact name="Done by">
          <UntrustedText text={completed_by} />
        </Fact>
      )}
      {task.description !== '' && (
        <Fact name="About">
          <Scrolled label="What it is about" className="max-h-48">
            <UntrustedText text={task.description} />
          </Scrolled>
        </Fact>
      )}
      <Fact name="Step">
        {task.sequence}
        {task.parallel_group !== null && (
          <>
            , group <UntrustedText text={task.parallel_group} />
          </>
        )}
        {task.estimated_complexity !== null && `, ${task.estimated_complexity} complexity`}
      </Fact>
      {task.capabilities.length > 0 && (
        <Fact name="Needs">
          <UntrustedText text={task.capabilities.join(', ')} />
        </Fact>
      )}
      {task.files_likely_affected.length > 0 && (
        <Fact name={counted(task.files_likely_affected.length, 'file')}>
          <Scrolled label="Files" className="max-h-32">
            <ul className="mono grid gap-0.5">
              {task.files_likely_affected.map((file) => (
                <li key={file}>
                  <UntrustedText text={file} />
                </li>
              ))}
            </ul>
          </Scrolled>
        </Fact>
      )}
      <Fact name="Begun">{task.started_at && <Time at={task.started_at} />}</Fact>
      {task.finished_at && (
        <Fact name="Ended">
          <Time at={task.finished_at} />
        </Fact>
      )}
      <Fact name="Task">
        <span data-id={task.id}>
          <Id id={task.id} />
        </span>
      </Fact>
    </Facts>
  );
}

const strings = (value: unknown): string[] => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []);

function Plan({ plan }: { plan: ShownWorkflowTask['task']['plan'] }) {
  if (!plan) return <p className="text-muted">No plan yet: whoever takes it up makes one.</p>;
  const steps = strings(plan.steps);
  const files = [...strings(plan.files_to_modify), ...strings(plan.files_to_create).map((file) => `${file} (new)`)];
  return (
    <div className="grid gap-2">
      {typeof plan.approach === 'string' && (
        <p>
          <UntrustedText text={plan.approach} />
        </p>
      )}
      {steps.length > 0 && (
        <ol className="list-decimal pl-6">
          {steps.map((step, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two steps of a plan may be worded alike
            <li key={at}>
              <UntrustedText text={step} />
            </li>
          ))}
        </ol>
      )}
      {files.length > 0 && (
        <div className="mono">
          <Lines texts={files} />
        </div>
      )}
    </div>
  );
}
