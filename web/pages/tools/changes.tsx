import { useMemo, useRef, useState } from 'react';
import type { ExternalServer, Withheld } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { AsCommand, CliCommand } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { Facts, type FactValues } from '../../parts/facts.tsx';
import { Filter } from '../../parts/filter.tsx';
import { EmptyState, Notice, Problem, State } from '../../parts/layout.tsx';
import { SearchLink, usePageSearch } from '../../parts/page-search.tsx';
import { Revealed } from '../../parts/revealed.tsx';
import { ReadPanel } from '../../parts/side-panel.tsx';
import type { Column } from '../../parts/table.tsx';
import { useToast } from '../../parts/toast.tsx';
import { counted, Time, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';
import { DefinitionDifference } from './definition-difference.tsx';
import { isWaiting, useServers } from './tools.tsx';
import { ForOperator, useRights } from './viewer-rights.tsx';

/** Definitions that are withheld until a person has approved their changes. */
export function Changes() {
  const [{ change: opened, show: chosen }, show] = usePageSearch('/tools/changes');
  const rights = useRights();
  const { data, error, refetch } = useServers(rights);
  const say = useToast();
  const list = useRef<HTMLElement>(null);
  const all = useMemo(() => data && changesOf(data.items), [data]);
  const rejected = all?.filter((change) => change.rejected !== null) ?? [];
  const rows = chosen === 'rejected' ? rejected : all?.filter((change) => change.rejected === null);
  const waiting = all?.filter(isWaiting).length ?? 0;
  // The decision removes the row that had the focus: the next one gets it.
  const decided = async (words: string): Promise<void> => {
    say(words);
    await show({ change: undefined });
    requestAnimationFrame(() => (list.current?.querySelector<HTMLElement>('[data-row] a') ?? list.current)?.focus());
  };
  if (rights === 'member' || rights === 'elsewhere') return <ForOperator title="Changes" rights={rights} />;
  return (
    <>
      <title>{`${waiting > 0 ? `(${waiting}) ` : ''}Changes · Covenant`}</title>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p className="text-muted">What a server changed, or newly has, is called by nobody until a person approves it.</p>
        <Filter
          label="Show"
          otherwise="Waiting"
          choices={[['rejected', `Rejected (${rejected.length})`]]}
          chosen={chosen}
          onChoose={(choice) => void show({ show: choice, change: undefined })}
        />
      </div>
      <section ref={list} tabIndex={-1} aria-label="Changes" className="panel mt-3 outline-none">
        <DataList
          noun="changes"
          label="Withheld definitions"
          list={{ rows, error, refetch }}
          columns={chosen === 'rejected' ? REJECTED_COLUMNS : COLUMNS}
          rowKey={changeKey}
          empty={<NoChanges rejected={chosen === 'rejected' ? 0 : rejected.length} shown={chosen} />}
        />
      </section>
      {opened && <ChangePanel key={opened} id={opened} onClose={() => void show({ change: undefined })} onDecided={(words) => void decided(words)} />}
    </>
  );
}

function NoChanges({ rejected, shown }: { rejected: number; shown: 'rejected' | undefined }) {
  return (
    <EmptyState all={rejected > 0 && { to: '/tools/changes', search: { show: 'rejected' }, label: `${counted(rejected, 'definition')} rejected` }}>
      <p>{shown ? 'Nothing was rejected.' : 'Nothing is withheld: every definition is as it was approved.'}</p>
      <CliCommand words="servers list" />
    </EmptyState>
  );
}

/** A withheld definition with the server that it is of. */
interface Change extends Withheld {
  readonly server: string;
}

const changesOf = (servers: readonly ExternalServer[]): Change[] =>
  servers.flatMap(({ name, withheld }) => withheld.map((each) => ({ ...each, server: name })));

/** The id of a change in the address. Only its last part can contain a slash. */
const changeKey = ({ server, kind, name }: Pick<Change, 'server' | 'kind' | 'name'>): string => `${server}/${kind}/${name}`;

const WHY: Record<Withheld['reason'], string> = {
  new: 'The server has it newly: nobody has approved it.',
  changed: 'It is not what was approved: the server has changed it.',
  renamed: 'It is another one under a new name.',
  gone: 'The server lists it no more. Approving forgets it and frees its name.',
  name_taken: 'Its name belongs to another tool, so it cannot be offered.',
  duplicate: 'The server lists two of this name; the first counts.',
  invalid: 'Its definition is not one, so it cannot be offered.',
};

const COLUMNS: readonly Column<Change>[] = [
  {
    label: 'Definition',
    role: 'title',
    cell: (change) => (
      <SearchLink set={{ change: changeKey(change) }} className="mono font-medium hover:underline">
        <UntrustedText text={change.exposed || change.name || 'one without a name'} brief />
      </SearchLink>
    ),
  },
  { label: 'Kind', role: 'meta', width: 'sm:w-20', cell: ({ kind }) => kind },
  { label: 'Server', width: 'sm:w-[20%]', cell: ({ server }) => <UntrustedText text={server} brief /> },
  {
    label: 'Why',
    role: 'state',
    width: 'sm:w-34',
    cell: (change) => <State tone={isWaiting(change) ? 'you' : 'quiet'}>{change.rejected === null ? change.reason.replace('_', ' ') : 'rejected'}</State>,
  },
  {
    label: 'Difference',
    role: 'meta',
    width: 'sm:w-40',
    cell: ({ difference, more_changes }) => (difference.length === 0 ? '—' : counted(difference.length + more_changes, 'place')),
  },
];

const REJECTED_COLUMNS: readonly Column<Change>[] = [
  ...COLUMNS,
  {
    label: 'Rejected',
    role: 'meta',
    from: 'lg',
    width: 'sm:w-[16%]',
    cell: ({ rejected }) =>
      rejected && (
        <>
          by <UntrustedText text={rejected.by} />, <Time at={rejected.at} />
        </>
      ),
  },
];

interface ChangePanelProps {
  /** As `changeKey` gives it. */
  id: string;
  onClose: () => void;
  onDecided: (words: string) => void;
}

/** One withheld definition in full: the list has only its beginning, and the rest must not stay unread. */
function ChangePanel({ id, onClose, onDecided }: ChangePanelProps) {
  const query = useRead('servers.list', { server: id.slice(0, id.indexOf('/')) });
  const change = query.data && changesOf(query.data.items).find((each) => changeKey(each) === id);
  return (
    <ReadPanel
      what="The change"
      title={change?.exposed || id}
      query={query}
      value={change}
      missing={<p>It is withheld no more: it was approved, or its server has changed it back.</p>}
      onClose={onClose}
    >
      {(shown) => (
        <>
          <p>{WHY[shown.reason]}</p>
          <Facts facts={factsOf(shown)} />
          <DefinitionDifference places={shown.difference} />
          {shown.fingerprint === '' ? (
            <Notice tone="wait">It cannot be approved as it is: {shown.exposed === '' ? 'the definition' : shown.exposed} has to change at its server.</Notice>
          ) : (
            <Decide key={shown.fingerprint} change={shown} onDecided={onDecided} />
          )}
        </>
      )}
    </ReadPanel>
  );
}

const revealed = (text: string) => (
  <span className="mono">
    <Revealed text={text} />
  </span>
);

const factsOf = ({ server, kind, name, renamed_from, rejected }: Change): FactValues => ({
  Server: <UntrustedText text={server} />,
  Kind: kind,
  'Its own name': revealed(name),
  Before: renamed_from !== null && revealed(renamed_from),
  Rejected: rejected !== null && (
    <>
      by <UntrustedText text={rejected.by} />, <Time at={rejected.at} />
    </>
  ),
});

/** Decides by fingerprint, so that a change after the person has read the definition is not approved with it. */
function Decide({ change: { server, name, exposed, fingerprint, reason, rejected }, onDecided }: { change: Change; onDecided: (words: string) => void }) {
  const approve = useAct('servers.approve');
  const reject = useAct('servers.reject');
  const [stale, setStale] = useState(false);
  const pending = approve.isPending || reject.isPending;
  const selection = { server, fingerprints: [fingerprint] };
  // The promise, not onSuccess: an event may have removed these buttons before the answer is here.
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
      <AsCommand label="As commands">
        <CliCommand words={`servers approve ${server}`} options={{ tool: name }} />
        <CliCommand words={`servers reject ${server}`} options={{ tool: name }} />
      </AsCommand>
    </div>
  );
}
