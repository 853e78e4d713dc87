import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { type Arguments, call, type Grant, type Result } from '../../api.ts';
import { useSettled } from '../../live/tail.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { Nothing } from '../../parts/section.tsx';
import { type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import type { GrantSearch } from '../../search.ts';
import { FilterText } from './filter-text.tsx';
import { ForOperator, type Rights, useRights } from './for-operator.tsx';
import { grantColumns } from './grant-columns.tsx';
import { GrantDialog } from './grant-dialog.tsx';
import { GrantLink } from './grant-link.tsx';
import { GrantPanel } from './grant-panel.tsx';
import { RevokeGrant } from './revoke-grant.tsx';

const route = getRouteApi('/tools/grants');
const PAGE = 100;
const STATUSES = [
  ['live', 'Live'],
  ['exhausted', 'Used up'],
  ['expired', 'Expired'],
  ['revoked', 'Revoked'],
] as const;

/** Who was given what, by whom and how far. */
export function Grants() {
  const { grant: opened, action, who, ...filter } = route.useSearch();
  const { status, q } = filter;
  const navigate = useNavigate();
  const show = (search: GrantSearch): void => void navigate({ to: '/tools/grants', search, resetScroll: false });
  const rights = useRights();
  const grants = useGrants(filter, rights);
  const [revoking, setRevoking] = useState<Grant>();
  const list = useRef<HTMLElement>(null);
  const columns = useMemo(() => grantColumns({ ...(status && { status }), ...(q && { q }) }, setRevoking), [status, q]);
  const rows = useMemo(() => grants.data?.pages.flatMap(({ items }) => items), [grants.data]);
  // Its row may have gone from the list with it.
  const revoked = (): void => {
    flushSync(() => setRevoking(undefined));
    list.current?.focus();
  };
  const dialog = opened === 'new' && (
    <GrantDialog {...(action && { action })} {...(who && { who })} onClose={() => show(filter)} onGranted={() => show(filter)} />
  );
  if (rights === 'member')
    return (
      <ForOperator title="Grants" rights={rights}>
        <GrantLink />
      </ForOperator>
    );
  return (
    <>
      <title>Grants · Covenant</title>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <FilterText label="Filter by action" value={q} onChange={(text) => show({ ...(status && { status }), ...(text && { q: text }) })} />
        <Filter
          label="Status"
          otherwise="All"
          choices={STATUSES}
          chosen={status}
          onChoose={(choice) => show({ ...(q && { q }), ...(choice && { status: choice }) })}
        />
        <ActButton needs="operator" look="primary" className="ml-auto" onClick={() => show({ ...filter, grant: 'new' })}>
          Grant…
        </ActButton>
      </div>
      <section ref={list} tabIndex={-1} aria-label="Grants" className="panel mt-3 outline-none">
        {grants.error && <Problem what="The grants could not be read." error={grants.error} onRetry={() => void grants.refetch()} />}
        {!rows && !grants.error && <TableSkeleton />}
        {rows?.length === 0 && <NoGrants filtered={status !== undefined || q !== undefined} />}
        {rows && rows.length > 0 && <GrantList key={`${status} ${q}`} rows={rows} columns={columns} />}
        {grants.hasNextPage && (
          <div className="grid justify-items-center border-t border-line p-3">
            <button type="button" className="button" disabled={grants.isFetchingNextPage} onClick={() => void grants.fetchNextPage()}>
              Show older grants
            </button>
          </div>
        )}
      </section>
      {opened && opened !== 'new' && <GrantPanel key={opened} id={opened} onClose={() => show(filter)} onRevoke={setRevoking} />}
      {dialog}
      {revoking && <RevokeGrant grant={revoking} onClose={() => setRevoking(undefined)} onRevoked={revoked} />}
    </>
  );
}

const idOf = ({ grant_id }: Grant): string => grant_id;

function GrantList({ rows, columns }: { rows: readonly Grant[]; columns: readonly Column<Grant>[] }) {
  const { settled, waiting } = useSettled(rows, idOf);
  return (
    <>
      {waiting > 0 && <Resume waiting={waiting} />}
      <Table label="Grants, newest first" columns={columns} rows={settled} rowKey={idOf} />
    </>
  );
}

function NoGrants({ filtered }: { filtered: boolean }) {
  return (
    <Nothing>
      <p>{filtered ? 'No grant fits.' : 'Nothing is granted: nobody can call anything but clock.'}</p>
      {filtered ? (
        <Link to="/tools/grants" className="link">
          Show all grants
        </Link>
      ) : (
        <CliCommand words="capabilities grant tool.call.echo" />
      )}
    </Nothing>
  );
}

type Page = Result<'capabilities.list'>;

function useGrants({ status, q }: Pick<GrantSearch, 'status' | 'q'>, rights: Rights): UseInfiniteQueryResult<InfiniteData<Page>> {
  const filter = { ...(status && { status }), ...(q && { text: q }) };
  return useInfiniteQuery({
    queryKey: ['capabilities.list', 'pages', filter],
    queryFn: ({ pageParam: before, signal }) => call('capabilities.list', { ...filter, limit: PAGE, ...(before && { before }) }, signal),
    enabled: rights === 'operator' || rights === 'elsewhere',
    initialPageParam: undefined as Arguments<'capabilities.list'>['before'],
    getNextPageParam: ({ items, more }: Page) => (more ? items.at(-1)?.grant_id : undefined),
  });
}
