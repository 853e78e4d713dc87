import { useState } from 'react';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Revealed } from '../../parts/revealed.tsx';
import { Said } from '../../parts/said.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useAct, useRead } from '../../queries.ts';
import { type Change, changeKey, changesOf, WHY } from './change.ts';
import { DefinitionDifference } from './definition-difference.tsx';

interface ChangePanelProps {
  /** As `changeKey` gives it. */
  id: string;
  onClose: () => void;
  onDecided: (words: string) => void;
}

/** One withheld definition in full: the list has only its beginning, and nothing may hide behind that. */
export function ChangePanel({ id, onClose, onDecided }: ChangePanelProps) {
  const { data, error, refetch } = useRead('servers.list', { server: id.slice(0, id.indexOf('/')) });
  const change = data && changesOf(data.items).find((each) => changeKey(each) === id);
  return (
    <SidePanel title={change?.exposed || id} onClose={onClose}>
      {error && <Problem what="The change could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {data && !change && <p>It is withheld no more: it was approved, or its server has changed it back.</p>}
      {change && <Shown key={change.fingerprint} change={change} onDecided={onDecided} />}
    </SidePanel>
  );
}

function Shown({ change, onDecided }: { change: Change; onDecided: (words: string) => void }) {
  const { server, kind, name, exposed, reason, renamed_from, rejected, difference } = change;
  return (
    <>
      <p>{WHY[reason]}</p>
      <Facts>
        <Fact name="Server">
          <Said text={server} />
        </Fact>
        <Fact name="Kind">{kind}</Fact>
        <Fact name="Its own name">
          <span className="mono">
            <Revealed text={name} />
          </span>
        </Fact>
        {renamed_from !== null && (
          <Fact name="Before">
            <span className="mono">
              <Revealed text={renamed_from} />
            </span>
          </Fact>
        )}
        {rejected && (
          <Fact name="Rejected">
            by <Said text={rejected.by} />, <Time at={rejected.at} />
          </Fact>
        )}
      </Facts>
      <DefinitionDifference places={difference} />
      {change.fingerprint === '' ? (
        <Notice tone="wait">It cannot be approved as it is: {exposed === '' ? 'the definition' : exposed} has to change at its server.</Notice>
      ) : (
        <Decide change={change} onDecided={onDecided} />
      )}
    </>
  );
}

/** By its fingerprint: what was read is what is approved, and nothing that came in between. */
function Decide({ change: { server, name, exposed, fingerprint, reason, rejected }, onDecided }: { change: Change; onDecided: (words: string) => void }) {
  const approve = useAct('servers.approve');
  const reject = useAct('servers.reject');
  const [stale, setStale] = useState(false);
  const pending = approve.isPending || reject.isPending;
  const selection = { server, fingerprints: [fingerprint] };
  // By the promise: the journal may have taken these buttons off the page before the answer is here.
  const settle = (done: Promise<number>, words: string): void => {
    done.then(
      (count) => (count > 0 ? onDecided(words) : setStale(true)),
      () => {},
    );
  };
  const yes = reason === 'gone' ? `Forgot ${exposed}.` : `Approved ${exposed}: it can be called again.`;
  return (
    <div className="sticky bottom-0 -mx-4 -mb-4 grid gap-3 border-t border-line bg-base p-4">
      {stale && <Notice tone="wait">Its server has changed it since it was shown: nothing was done. Read it again.</Notice>}
      {approve.error && <Problem what="Nothing was approved." error={approve.error} />}
      {reject.error && <Problem what="Nothing was rejected." error={reject.error} />}
      <div className="flex flex-wrap gap-2">
        <ActButton
          needs="operator"
          look="primary"
          pending={pending}
          onClick={() =>
            settle(
              approve.mutateAsync(selection).then(({ approved }) => approved.length),
              yes,
            )
          }
        >
          {reason === 'gone' ? 'Forget it' : 'Approve'}
        </ActButton>
        {rejected === null && (
          <ActButton
            needs="operator"
            look="bad"
            pending={pending}
            onClick={() =>
              settle(
                reject.mutateAsync(selection).then((answer) => answer.rejected.length),
                `Rejected ${exposed}: it stays withheld, and can still be approved.`,
              )
            }
          >
            Reject
          </ActButton>
        )}
      </div>
      <details>
        <summary className="cursor-pointer text-muted">As commands</summary>
        <div className="mt-2 grid gap-2">
          <CliCommand words={`servers approve ${server}`} options={{ tool: name }} />
          <CliCommand words={`servers reject ${server}`} options={{ tool: name }} />
        </div>
      </details>
    </div>
  );
}
