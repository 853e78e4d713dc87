import type { ActionResult } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { Scrolled } from '../../parts/scrolled.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import { Part } from './part.tsx';
import { useCheckpoints } from './read-pages.ts';

type Checkpoint = ActionResult<'workflows.checkpoints'>['items'][number];

/** All of them: the compiler sees to it. */
const TONES: Record<Checkpoint['type'], Tone> = {
  plan: 'quiet',
  progress: 'live',
  decision: 'you',
  error: 'bad',
  recovery: 'wait',
  complete: 'good',
  replan: 'wait',
};

/** What agents put on record, the newest first. */
export function Checkpoints({ task, count }: { task: string; count: number }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useCheckpoints(task);
  const items = data?.pages.flatMap((page) => page.items);
  return (
    <Part title="Checkpoints" about={count > 0 && counted(count, 'checkpoint')}>
      {error && <Problem what="The checkpoints could not be read." error={error} onRetry={() => void refetch()} />}
      {!items && !error && <TableSkeleton />}
      {items?.length === 0 && <p className="text-muted">None yet: agents add them while they work.</p>}
      {items && items.length > 0 && (
        <ol className="panel divide-y divide-line">
          {items.map((checkpoint) => (
            <Entry key={checkpoint.id} checkpoint={checkpoint} />
          ))}
        </ol>
      )}
      {hasNextPage && (
        <div>
          <button type="button" className="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older checkpoints
          </button>
        </div>
      )}
    </Part>
  );
}

function Entry({ checkpoint: { sequence, type, summary, files_changed, detail, agent_name, created_at } }: { checkpoint: Checkpoint }) {
  return (
    <li className="grid gap-1 px-3 py-2">
      <p className="flex flex-wrap items-center gap-x-2 text-muted">
        <span>{sequence}</span>
        <State tone={TONES[type]}>{type}</State>
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
          <summary className="cursor-pointer text-label text-muted pointer-coarse:min-h-11 pointer-coarse:py-3">Detail</summary>
          <Scrolled label={`Detail of checkpoint ${sequence}`} className="mono mt-1 max-h-60">
            <UntrustedText text={detail} />
          </Scrolled>
        </details>
      )}
    </li>
  );
}
