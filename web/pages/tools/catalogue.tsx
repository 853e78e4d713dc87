import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { call } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Nothing, Section } from '../../parts/section.tsx';
import { Table, TableSkeleton } from '../../parts/table.tsx';
import type { CatalogueSearch } from '../../search.ts';
import { catalogueColumns } from './catalogue-columns.tsx';
import { FilterText } from './filter-text.tsx';
import { MayCall } from './may-call.tsx';
import { ServerFilter } from './server-filter.tsx';
import { ToolPanel } from './tool-panel.tsx';

const route = getRouteApi('/tools/');
const PAGE = 200;
const STATES = [
  ['up', 'Up'],
  ['starting', 'Starting'],
  ['down', 'Down'],
  ['withheld', 'Withheld'],
] as const;

/** Everything that can be called, its price in context and its use in a day. */
export function Catalogue() {
  const search = route.useSearch();
  const { q, server, state, tool: opened } = search;
  const navigate = useNavigate();
  const show = (next: CatalogueSearch): void => void navigate({ to: '/tools', search: next, resetScroll: false });
  const { tool: _, ...kept } = search;
  const tools = useTools({ ...(q && { text: q }), ...(server && { server }), ...(state && { state }) });
  const columns = useMemo(() => catalogueColumns(search), [search]);
  const rows = useMemo(() => tools.data?.pages.flatMap(({ items }) => items), [tools.data]);
  const total = tools.data?.pages[0]?.total;
  return (
    <>
      <title>Tools · Covenant</title>
      <div className="grid gap-6">
        <MayCall {...search} onAsk={(question) => show({ ...kept, ...question })} />
        <Section title="Catalogue" about={total !== undefined && counted(total, 'tool')}>
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
            <FilterText label="Filter by name" value={q} onChange={(text) => show(without({ ...kept, q: text }))} />
            <ServerFilter chosen={server} onChoose={(choice) => show(without({ ...kept, server: choice }))} />
            <Filter label="State" otherwise="All" choices={STATES} chosen={state} onChoose={(choice) => show(without({ ...kept, state: choice }))} />
          </div>
          <div className="panel">
            {tools.error && <Problem what="The catalogue could not be read." error={tools.error} onRetry={() => void tools.refetch()} />}
            {!rows && !tools.error && <TableSkeleton />}
            {rows?.length === 0 && (
              <Nothing>
                <p>No tool fits.</p>
                <Link to="/tools" className="link">
                  Show all tools
                </Link>
                <CliCommand words="tools list" />
              </Nothing>
            )}
            {rows && rows.length > 0 && <Table label="Tools by name" columns={columns} rows={rows} rowKey={({ name }) => name} />}
            {tools.hasNextPage && (
              <div className="grid justify-items-center border-t border-line p-3">
                <button type="button" className="button" disabled={tools.isFetchingNextPage} onClick={() => void tools.fetchNextPage()}>
                  Show more tools
                </button>
              </div>
            )}
          </div>
        </Section>
      </div>
      {opened && <ToolPanel key={opened} name={opened} onClose={() => show(kept)} />}
    </>
  );
}

/** An address has only what was chosen. */
function without(search: { [K in keyof CatalogueSearch]: CatalogueSearch[K] | undefined }): CatalogueSearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as CatalogueSearch;
}

function useTools(filter: { text?: string; server?: string; state?: (typeof STATES)[number][0] }) {
  return useInfiniteQuery({
    queryKey: ['tools.page', 'pages', filter],
    queryFn: ({ pageParam: offset, signal }) => call('tools.page', { ...filter, limit: PAGE, offset }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) => (pages.length * PAGE < total ? pages.length * PAGE : undefined),
  });
}
