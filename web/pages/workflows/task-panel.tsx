import type { Question, ShownWorkflowTask } from '../../api.ts';
import { CliCommand } from '../../parts/command.tsx';
import type { FactValues } from '../../parts/facts.tsx';
import { Notice, PanelPart, Scrolled, State } from '../../parts/layout.tsx';
import { ReadPanel } from '../../parts/side-panel.tsx';
import { useToast } from '../../parts/toast.tsx';
import { counted, Id, TextList, Time, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { AnswerForm } from '../team/answer-form.tsx';
import { Checkpoints } from './checkpoints.tsx';
import { ContextPreview } from './context-preview.tsx';
import { statusWords, TASK_TONES } from './status.ts';
import { TaskActions } from './task-actions.tsx';
import { Holder, TaskLink } from './task-words.tsx';

/** The panel polls, because no event reports that a claim has expired. */
const POLL_MS = 15_000;

/** The panel of a task, with its status, plan, dependencies, checkpoints and context. */
export function TaskPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useRead('workflows.task', { task_id: id }, { pollMs: POLL_MS });
  const { data } = query;
  return (
    <ReadPanel
      what="The task"
      title={data?.task.name ?? 'Task'}
      query={query}
      value={data}
      head={(shown) => <Attention shown={shown} />}
      facts={factsOf}
      onClose={onClose}
    >
      {(shown) => (
        <>
          <TaskActions shown={shown} />
          <PanelPart title="Plan">
            <Plan plan={shown.task.plan} />
          </PanelPart>
          <PanelPart title="Dependencies" about={countOf(shown.dependencies, shown.dependencies_more)}>
            <Neighbours tasks={shown.dependencies} more={shown.dependencies_more} none="None." />
          </PanelPart>
          <PanelPart title="Dependents" about={countOf(shown.dependents, shown.dependents_more)}>
            <Neighbours tasks={shown.dependents} more={shown.dependents_more} none="None." />
          </PanelPart>
          <Checkpoints task={id} count={shown.task.checkpoint_count} />
          <ContextPreview task={id} />
        </>
      )}
    </ReadPanel>
  );
}

/** Shows what a person must know first: an open question, a failure, or the task that blocks this one. */
function Attention({ shown: { task, question, unmet, unmet_length } }: { shown: ShownWorkflowTask }) {
  return (
    <>
      {question && <TaskQuestion question={question} />}
      {task.status === 'failed' && task.error && (
        <Notice tone="bad">
          <p className="font-medium">Error</p>
          <Scrolled label="Error" className="max-h-48">
            <UntrustedText text={task.error} />
          </Scrolled>
        </Notice>
      )}
      <HeldUp unmet={unmet} length={unmet_length} />
    </>
  );
}

/** Shows the question that the task waits for, with the form to answer it. */
function TaskQuestion({ question }: { question: Question }) {
  const say = useToast();
  return (
    <section aria-label="Question" className="panel grid gap-2 border-you p-3">
      <AnswerForm
        question={question}
        onAnswered={(taskStatus) => say(taskStatus === 'pending' ? 'Answered. The task is open for any agent to claim.' : 'Answered. The task continues.')}
      />
      <CliCommand words={`messages answer ${question.question_id}`} text="Your answer" />
    </section>
  );
}

type Neighbour = ShownWorkflowTask['dependencies'][number];

/** Shows the chain of unfinished tasks that this task waits for. The middle of a long chain is left out. */
function HeldUp({ unmet, length }: { unmet: readonly Neighbour[]; length: number }) {
  const last = unmet.at(-1);
  if (!last) return null;
  const between = length - 1;
  const chain = unmet.slice(0, -1).map(({ name }) => name);
  if (length > unmet.length) chain.push(`… ${length - unmet.length} more …`);
  return (
    <Notice tone="wait">
      <div className="flex flex-wrap items-center gap-x-2">
        Blocked by <TaskLink id={last.id} name={last.name} />
        <State tone={TASK_TONES[last.status]}>{statusWords(last.status)}</State>
      </div>
      {between > 0 && (
        <p className="mt-1">
          {counted(between, 'task')} in between: <UntrustedText text={chain.join(' ← ')} brief />
        </p>
      )}
    </Notice>
  );
}

function factsOf({ task, claim, completed_by }: ShownWorkflowTask): FactValues {
  const files = task.files_likely_affected;
  return {
    Status: <State tone={TASK_TONES[task.status]}>{statusWords(task.status)}</State>,
    Claim: claim ? (
      <Holder claim={claim}>
        <span>fence {claim.fence}</span>
      </Holder>
    ) : (
      <span className="text-muted">not claimed</span>
    ),
    Outcome: task.outcome !== null && task.outcome !== '' && (
      <Scrolled label="Outcome" className="max-h-48">
        <UntrustedText text={task.outcome} />
      </Scrolled>
    ),
    'Completed by': completed_by !== null && <UntrustedText text={completed_by} />,
    Description: task.description !== '' && (
      <Scrolled label="Description" className="max-h-48">
        <UntrustedText text={task.description} />
      </Scrolled>
    ),
    Step: (
      <>
        {task.sequence}
        {task.parallel_group !== null && (
          <>
            , group <UntrustedText text={task.parallel_group} />
          </>
        )}
        {task.estimated_complexity !== null && `, ${task.estimated_complexity} complexity`}
      </>
    ),
    Needs: task.capabilities.length > 0 && <UntrustedText text={task.capabilities.join(', ')} />,
    [counted(files.length, 'file')]: files.length > 0 && (
      <Scrolled label="Files" className="mono max-h-32">
        <UntrustedText text={files.join('\n')} />
      </Scrolled>
    ),
    Started: task.started_at && <Time at={task.started_at} />,
    Ended: task.finished_at !== null && <Time at={task.finished_at} />,
    Task: (
      <span data-id={task.id}>
        <Id id={task.id} />
      </span>
    ),
  };
}

const strings = (value: unknown): string[] => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []);

function Plan({ plan }: { plan: ShownWorkflowTask['task']['plan'] }) {
  if (!plan) return <p className="text-muted">No plan yet. The agent that claims the task writes one.</p>;
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
            // biome-ignore lint/suspicious/noArrayIndexKey: two steps of a plan can have the same text
            <li key={at}>
              <UntrustedText text={step} />
            </li>
          ))}
        </ol>
      )}
      {files.length > 0 && (
        <div className="mono">
          <TextList texts={files} />
        </div>
      )}
    </div>
  );
}

const countOf = (tasks: readonly Neighbour[], more: number) => tasks.length > 0 && counted(tasks.length + more, 'task');

function Neighbours({ tasks, more, none }: { tasks: readonly Neighbour[]; more: number; none: string }) {
  if (tasks.length === 0) return <p className="text-muted">{none}</p>;
  return (
    <ul className="panel max-h-60 divide-y divide-line overflow-y-auto">
      {tasks.map(({ id, name, status }) => (
        <li key={id} className="flex items-start justify-between gap-2 px-3 py-1">
          <TaskLink id={id} name={name} />
          <State tone={TASK_TONES[status]}>{statusWords(status)}</State>
        </li>
      ))}
      {more > 0 && <li className="px-3 py-1 text-muted">and {more.toLocaleString()} more</li>}
    </ul>
  );
}
