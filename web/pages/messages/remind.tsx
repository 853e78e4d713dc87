import type { Thread } from '../../api.ts';
import { useByClock } from '../../live/clock.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Until } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';

/** Once in a while only: the server says from when on. */
export function Remind({ thread, from }: { thread: Thread; from: number }) {
  const remind = useAct('messages.remind');
  const say = useToast();
  const soon = useByClock((now) => now < from);
  const act = (): void =>
    remind.mutate(
      { id: thread.id },
      { onSuccess: ({ told }) => say(told === 0 ? 'Reminded. It stands on the page of those it waits for.' : `Reminded: ${counted(told, 'agent')} told.`) },
    );
  return (
    <div className="grid gap-2">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <ActButton pending={remind.isPending} disabled={soon} onClick={act}>
          Remind
        </ActButton>
        <span className="text-muted">
          {soon ? (
            <>
              Again <Until at={from} />.
            </>
          ) : (
            'Whoever has to answer is told once more.'
          )}
        </span>
      </p>
      {remind.error && <Problem what="Nobody was reminded." error={remind.error} />}
      <CliCommand words={`messages remind ${thread.id}`} />
    </div>
  );
}
