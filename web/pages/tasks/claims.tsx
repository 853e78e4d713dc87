import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { type Claim, call } from '../../api.ts';
import { useSettled } from '../../live/tail.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { Nothing } from '../../parts/section.tsx';
import { type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import type { ClaimSearch } from '../../search.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { claimColumns } from './claim-columns.tsx';
import { ClaimPanel } from './claim-panel.tsx';
import { MoreRows } from './more-rows.tsx';
import { usePages } from './pages.ts';
import { ReleaseClaim } from './release-claim.tsx';

const route = getRouteApi('/tasks/claims');

/** Which code is in whose hands. */
export function Claims() {
  const { claim: opened, mine, before } = route.useSearch();
  const repository = useRepository();
  const navigate = useNavigate();
  const kept: ClaimSearch = { ...(mine && { mine }), ...(before && { before }) };
  const show = (search: ClaimSearch): void => void navigate({ to: '/tasks/claims', search, resetScroll: false });
  const filter = { ...(mine && { mine }), ...(repository && { repository }) };
  const claims = usePages({
    key: ['claims.list', filter],
    read: (cursor: string | undefined, limit, signal) => call('claims.list', { ...filter, limit, ...(cursor && { before: cursor }) }, signal),
    cursorOf: idOf,
    from: before,
  });
  const { rows } = claims;
  const [releasing, setReleasing] = useState<Claim>();
  const list = useRef<HTMLElement>(null);
  const columns = useMemo(() => claimColumns({ ...(mine && { mine }), ...(before && { before }) }, setReleasing), [mine, before]);
  const last = rows?.at(-1);
  // The row that the dialog was opened from has gone.
  const released = (): void => {
    flushSync(() => setReleasing(undefined));
    if (opened) show(kept);
    list.current?.focus();
  };
  return (
    <>
      <title>Claims · Covenant</title>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-muted">
        <label className="flex items-center gap-2 pointer-coarse:min-h-11">
          <input type="checkbox" checked={mine ?? false} onChange={({ target }) => show(target.checked ? { mine: true } : {})} />
          Only mine
        </label>
        {claims.first && (
          <p>
            {counted(claims.first.total, 'live claim')}
            {claims.first.total > 0 && ', newest first'}
          </p>
        )}
        {before && (
          <Link to="/tasks/claims" search={{ ...kept, before: undefined }} className="link">
            Back to the newest
          </Link>
        )}
      </div>
      <section ref={list} tabIndex={-1} aria-label="Claims" className="panel mt-3 outline-none">
        {claims.error && <Problem what="The claims could not be read." error={claims.error} onRetry={claims.retry} />}
        {!rows && !claims.error && <TableSkeleton />}
        {rows?.length === 0 && <NoClaims narrowed={mine === true || repository !== undefined || before !== undefined} />}
        {rows && rows.length > 0 && <ClaimList key={`${mine} ${before} ${repository}`} rows={rows} columns={columns} />}
        <MoreRows pages={claims} what="claims" further={{ to: '/tasks/claims', search: last ? { ...kept, before: last.claim_id } : kept }} />
      </section>
      {opened && (
        <ClaimPanel key={opened} id={opened} listed={rows?.find(({ claim_id }) => claim_id === opened)} onClose={() => show(kept)} onRelease={setReleasing} />
      )}
      {releasing && <ReleaseClaim claim={releasing} onClose={() => setReleasing(undefined)} onReleased={released} />}
    </>
  );
}

function idOf({ claim_id }: Claim): string {
  return claim_id;
}

function ClaimList({ rows, columns }: { rows: readonly Claim[]; columns: readonly Column<Claim>[] }) {
  const { settled, waiting } = useSettled(rows, idOf);
  return (
    <>
      {waiting > 0 && <Resume waiting={waiting} />}
      <Table label="Live claims, newest first" columns={columns} rows={settled} rowKey={idOf} />
    </>
  );
}

function NoClaims({ narrowed }: { narrowed: boolean }) {
  if (narrowed) {
    return (
      <Nothing>
        <p>No such claim is live.</p>
        <Link to="/tasks/claims" search={{ repo: undefined }} className="link">
          Show all live claims
        </Link>
      </Nothing>
    );
  }
  return (
    <Nothing>
      <p>Nobody holds any code. Agents claim what they are about to edit, once they are connected:</p>
      <CliCommand words="connect claude-code" />
    </Nothing>
  );
}
