import { type ActionResult, call } from '../../api.ts';
import { ListFrame } from '../../parts/data-list.tsx';
import { PanelPart, Scrolled, State, type Tone } from '../../parts/layout.tsx';
import { usePages } from '../../parts/paging.ts';
import { counted, Time, UntrustedText } from '../../parts/values.tsx';

type Checkpoint = ActionResult<'workflows.checkpoints'>['items'][number];

const CHECKPOINT_TONES: Record<Checkpoint['type'], Tone> = {
  plan: 'quiet',
  progress: 'live',
  decision: 'you',
  error: 'bad',
  recovery: 'wait',
  complete: 'good',
  replan: 'wait',
};

/** Lists the checkpoints that agents have recorded for a task, newest first. */
export function Checkpoints({ task, count }: { task: string; count: number }) {
  const checkpoints = usePages({
    key: ['workflows.checkpoints', task],
    read: (before: number | undefined, limit, signal) => call('workflows.checkpoints', { task_id: task, limit, ...(before && { before }) }, signal),
    next: ({ items, more }) => (more ? items.at(-1)?.sequence : undefined),
    sizes: [20, 20],
  });
  return (
    <PanelPart title="Checkpoints" about={count > 0 && counted(count, 'checkpoint')}>
      <div className="panel">
        <ListFrame
          noun="checkpoints"
          list={checkpoints}
          moreLabel="Show older checkpoints"
          empty={<p className="px-3 py-2 text-muted">No checkpoints yet. Agents record them while they work.</p>}
        >
          {(items) => (
            <ol className="divide-y divide-line">
              {items.map((checkpoint) => (
                <CheckpointEntry key={checkpoint.id} checkpoint={checkpoint} />
              ))}
            </ol>
          )}
        </ListFrame>
      </div>
    </PanelPart>
  );
}

function CheckpointEntry({ checkpoint: { sequence, type, summary, files_changed, detail, agent_name, created_at } }: { checkpoint: Checkpoint }) {
  return (
    <li className="grid gap-1 px-3 py-2">
      <p className="flex flex-wrap items-center gap-x-2 text-muted">
        <span>{sequence}</span>
        <State tone={CHECKPOINT_TONES[type]}>{type}</State>
        {agent_name && <UntrustedText text={agent_name} />}
        <span className="ml-auto">
          <Time at={created_at} />
        </span>
      </p>
      <Scrolled label={`Checkpoint ${sequence}`} className="max-h-40">
        <UntrustedText text={summary} />
      </Scrolled>
      {files_changed.length > 0 && (
        <p className="mono text-muted">
          <UntrustedText text={files_changed.join(', ')} brief />
        </p>
      )}
      {detail && (
        <details>
          <summary className="cursor-pointer text-label text-muted pointer-coarse:min-h-11 pointer-coarse:py-3">Details</summary>
          <Scrolled label={`Details of checkpoint ${sequence}`} className="mono mt-1 max-h-60">
            <UntrustedText text={detail} />
          </Scrolled>
        </details>
      )}
    </li>
  );
}
