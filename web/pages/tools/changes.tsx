import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Nothing } from '../../parts/section.tsx';
import { Table, TableSkeleton } from '../../parts/table.tsx';
import { useToast } from '../../parts/toast.tsx';
import type { ChangeSearch } from '../../search.ts';
import { changeKey, changesOf, isWaiting } from './change.ts';
import { changeColumns } from './change-columns.tsx';
import { ChangePanel } from './change-panel.tsx';
import { ForOperator, useRights } from './for-operator.tsx';
import { useServers } from './read-servers.ts';

const route = getRouteApi('/tools/changes');

/** Definitions that nobody is offered until a person has read what is different in them. */
export function Changes() {
  const { change: opened, show: chosen } = route.useSearch();
  const navigate = useNavigate();
  const show = (search: ChangeSearch): Promise<void> => navigate({ to: '/tools/changes', search, resetScroll: false });
  const kept: ChangeSearch = chosen ? { show: chosen } : {};
  const rights = useRights();
  const { data, error, refetch } = useServers(rights);
  const say = useToast();
  const list = useRef<HTMLElement>(null);
  const columns = useMemo(() => changeColumns(chosen ? { show: chosen } : {}), [chosen]);
  const all = useMemo(() => data && changesOf(data.items), [data]);
  const rejected = all?.filter((change) => change.rejected !== null) ?? [];
  const rows = chosen === 'rejected' ? rejected : all?.filter((change) => change.rejected === null);
  const waiting = all?.filter(isWaiting).length ?? 0;
  // The row it was opened from is gone with the decision: the next one is at hand.
  const decided = async (words: string): Promise<void> => {
    say(words);
    await show(kept);
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
          onChoose={(choice) => void show(choice ? { show: choice } : {})}
        />
      </div>
      <section ref={list} tabIndex={-1} aria-label="Changes" className="panel mt-3 outline-none">
        {error && <Problem what="The changes could not be read." error={error} onRetry={() => void refetch()} />}
        {!rows && !error && <TableSkeleton />}
        {rows?.length === 0 && <NoChanges rejected={chosen === 'rejected' ? 0 : rejected.length} asked={chosen} />}
        {rows && rows.length > 0 && <Table label="Withheld definitions" columns={columns} rows={rows} rowKey={changeKey} />}
      </section>
      {opened && <ChangePanel key={opened} id={opened} onClose={() => void show(kept)} onDecided={(words) => void decided(words)} />}
    </>
  );
}

function NoChanges({ rejected, asked }: { rejected: number; asked: 'rejected' | undefined }) {
  return (
    <Nothing>
      <p>{asked ? 'Nothing was rejected.' : 'Nothing is withheld: every definition is as it was approved.'}</p>
      {rejected > 0 && (
        <Link to="/tools/changes" search={{ show: 'rejected' }} className="link">
          {counted(rejected, 'definition')} rejected
        </Link>
      )}
      <CliCommand words="servers list" />
    </Nothing>
  );
}
