import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Nothing } from '../../parts/section.tsx';
import { Table, TableSkeleton } from '../../parts/table.tsx';
import { State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import type { MatrixSearch } from '../../search.ts';
import { ANSWER_MEANINGS, ANSWER_TONES, ANSWER_WORDS } from './answer.ts';
import { FilterText } from './filter-text.tsx';
import { matrixColumns } from './matrix-columns.tsx';
import { Pager } from './pager.tsx';
import { ServerFilter } from './server-filter.tsx';

const route = getRouteApi('/tools/matrix');
const TOOLS = 50;
const CALLERS = 6;

/** Tools against tokens: what the gate would say to each. */
export function Matrix() {
  const search = route.useSearch();
  const { q, server, from = 0, callers = 0 } = search;
  const navigate = useNavigate();
  const show = (next: MatrixSearch): void => void navigate({ to: '/tools/matrix', search: next, resetScroll: false });
  const input = { limit: TOOLS, offset: from, callers_limit: CALLERS, callers_offset: callers, ...(q && { text: q }), ...(server && { server }) };
  const { data, error, refetch } = useRead('capabilities.matrix', input);
  const columns = useMemo(() => matrixColumns(data?.callers ?? []), [data]);
  const kept = { ...(q && { q }), ...(server && { server }) };
  const at = (next: { from: number; callers: number }): void =>
    show({ ...kept, ...(next.from > 0 && { from: next.from }), ...(next.callers > 0 && { callers: next.callers }) });
  return (
    <>
      <title>Who may call · Covenant</title>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <FilterText label="Filter by name" value={q} onChange={(text) => show({ ...(server && { server }), ...(text && { q: text }) })} />
        <ServerFilter chosen={server} onChoose={(choice) => show({ ...(q && { q }), ...(choice && { server: choice }) })} />
      </div>
      <p className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-muted">
        {ANSWER_MEANINGS.map(([answer, meaning]) => (
          <span key={answer} className="flex items-center gap-1.5">
            <State tone={ANSWER_TONES[answer]}>{ANSWER_WORDS[answer]}</State> {meaning}
          </span>
        ))}
      </p>
      <section aria-label="Who may call what" className="panel mt-3">
        {error && <Problem what="Who may call what could not be read." error={error} onRetry={() => void refetch()} />}
        {!data && !error && <TableSkeleton />}
        {data?.items.length === 0 && (
          <Nothing>
            <p>No tool fits.</p>
            <Link to="/tools/matrix" className="link">
              Show all tools
            </Link>
          </Nothing>
        )}
        {data && data.items.length > 0 && <Table label="Tools against tokens" columns={columns} rows={data.items} rowKey={({ name }) => name} />}
        {data && (
          <div className="flex flex-wrap justify-between gap-3 border-t border-line p-3">
            <Pager label={counted(data.total, 'tool')} from={from} step={TOOLS} total={data.total} onGo={(next) => at({ from: next, callers })} />
            <Pager
              label={counted(data.total_callers, 'caller')}
              from={callers}
              step={CALLERS}
              total={data.total_callers}
              onGo={(next) => at({ from, callers: next })}
            />
          </div>
        )}
      </section>
    </>
  );
}
