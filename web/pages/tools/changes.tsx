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

/** The page that lists withheld definitions. Nobody can call them until a person approves the change. */
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
  // After a decision the focused row disappears, so move the focus to the next row.
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
        <p className="text-muted">New and changed definitions of a server cannot be called until a person approves them.</p>
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
    <EmptyState all={rejected > 0 && { to: '/tools/changes', search: { show: 'rejected' }, label: `Show ${counted(rejected, 'rejected definition')}` }}>
      <p>
        {shown ? 'No rejected definitions.' : 'No withheld definitions. New and changed definitions of external servers appear here. To list the servers, run:'}
      </p>
      <CliCommand words="servers list" />
    </EmptyState>
  );
}

/** A withheld definition and the name of its server. */
interface Change extends Withheld {
  readonly server: string;
}

const changesOf = (servers: readonly ExternalServer[]): Change[] =>
  servers.flatMap(({ name, withheld }) => withheld.map((each) => ({ ...each, server: name })));

/** The id of a change in the page's address. Only the name, which is the last part, can contain a slash. */
const changeKey = ({ server, kind, name }: Pick<Change, 'server' | 'kind' | 'name'>): string => `${server}/${kind}/${name}`;

const WHY: Record<Withheld['reason'], string> = {
  new: 'New on the server. Not approved yet.',
  changed: 'The server changed it after it was approved.',
  renamed: 'An approved definition with a new name.',
  gone: 'The server no longer lists it. Forget it to free its name.',
  name_taken: 'Another tool already uses its name, so it cannot be offered.',
  duplicate: 'The server lists this name twice. Only the first is offered.',
  invalid: 'The definition is invalid, so it cannot be offered.',
};

const COLUMNS: readonly Column<Change>[] = [
  {
    label: 'Definition',
    role: 'title',
    cell: (change) => (
      <SearchLink set={{ change: changeKey(change) }} className="mono font-medium hover:underline">
        <UntrustedText text={change.exposed || change.name || '(no name)'} brief />
      </SearchLink>
    ),
  },
  { label: 'Kind', role: 'meta', width: 'sm:w-20', cell: ({ kind }) => kind },
  { label: 'Server', width: 'sm:w-[20%]', cell: ({ server }) => <UntrustedText text={server} brief /> },
  {
    label: 'Reason',
    role: 'state',
    width: 'sm:w-34',
    cell: (change) => <State tone={isWaiting(change) ? 'you' : 'quiet'}>{change.rejected === null ? change.reason.replace('_', ' ') : 'rejected'}</State>,
  },
  {
    label: 'Difference',
    role: 'meta',
    width: 'sm:w-40',
    cell: ({ difference, more_changes }) => (difference.length === 0 ? '—' : counted(difference.length + more_changes, 'change')),
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
  /** The id of the change, from `changeKey`. */
  id: string;
  onClose: () => void;
  onDecided: (words: string) => void;
}

/** Shows a withheld definition in full. The list contains only the beginning, but a person must be able to read all of it before they decide. */
function ChangePanel({ id, onClose, onDecided }: ChangePanelProps) {
  const query = useRead('servers.list', { server: id.slice(0, id.indexOf('/')) });
  const change = query.data && changesOf(query.data.items).find((each) => changeKey(each) === id);
  return (
    <ReadPanel
      what="The change"
      title={change?.exposed || id}
      query={query}
      value={change}
      missing={<p>This definition is not withheld anymore. It was approved, or the server changed it back.</p>}
      onClose={onClose}
    >
      {(shown) => (
        <>
          <p>{WHY[shown.reason]}</p>
          <Facts facts={factsOf(shown)} />
          <DefinitionDifference places={shown.difference} />
          {shown.fingerprint === '' ? (
            <Notice tone="wait">This definition cannot be approved. Change {shown.exposed === '' ? 'it' : shown.exposed} on its server.</Notice>
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
  'Original name': revealed(name),
  'Previous name': renamed_from !== null && revealed(renamed_from),
  Rejected: rejected !== null && (
    <>
      by <UntrustedText text={rejected.by} />, <Time at={rejected.at} />
    </>
  ),
});

/**
 * The buttons to approve or reject a definition. They send its fingerprint. If the server changes the definition after the person has read it, the new
 * version is therefore not approved.
 */
function Decide({ change: { server, name, exposed, fingerprint, reason, rejected }, onDecided }: { change: Change; onDecided: (words: string) => void }) {
  const approve = useAct('servers.approve');
  const reject = useAct('servers.reject');
  const [stale, setStale] = useState(false);
  const pending = approve.isPending || reject.isPending;
  const selection = { server, fingerprints: [fingerprint] };
  // The promise is used instead of onSuccess, because an event may remove these buttons before onSuccess runs.
  const settle = (done: Promise<number>, words: string): void => {
    done.then(
      (count) => (count > 0 ? onDecided(words) : setStale(true)),
      () => {},
    );
  };
  const yes = reason === 'gone' ? `Forgot ${exposed}.` : `Approved ${exposed}. It can be called again.`;
  return (
    <div className="sticky bottom-0 -mx-4 -mb-4 grid gap-3 border-t border-line bg-base p-4">
      {stale && <Notice tone="wait">The server changed the definition after it was shown here. Nothing was decided. Read the new version.</Notice>}
      {approve.error && <Problem what="The definition was not approved." error={approve.error} />}
      {reject.error && <Problem what="The definition was not rejected." error={reject.error} />}
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
          {reason === 'gone' ? 'Forget' : 'Approve'}
        </ActButton>
        {rejected === null && (
          <ActButton
            needs="operator"
            look="bad"
            pending={pending}
            onClick={() =>
              settle(
                reject.mutateAsync(selection).then((answer) => answer.rejected.length),
                `Rejected ${exposed}. It stays withheld and can still be approved.`,
              )
            }
          >
            Reject
          </ActButton>
        )}
      </div>
      <AsCommand>
        <CliCommand words={`servers approve ${server}`} options={{ tool: name }} />
        <CliCommand words={`servers reject ${server}`} options={{ tool: name }} />
      </AsCommand>
    </div>
  );
}
