import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Token } from '../../api.ts';
import { useFrozen } from '../../live/tail.ts';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import { useRead } from '../../queries.ts';
import type { TokenSearch } from '../../search.ts';
import { CreateToken } from './create-token.tsx';
import { RevokeToken } from './revoke-token.tsx';
import { tokenColumns } from './token-columns.tsx';
import { TokenPanel } from './token-panel.tsx';

const route = getRouteApi('/settings/tokens');

/** Whoever scrolls through more than a page of tokens looks for one by its id. */
const [FEW, MANY] = [50, 1_000];

/** The signed-in developer's own; an operator may look at everybody's. */
export function Tokens() {
  const { create, token: opened, whose } = route.useSearch();
  const navigate = useNavigate();
  const isOperator = useRead('identity.me', {}).data?.operator ?? false;
  const all = whose === 'all' && isOperator;
  const show = (search: TokenSearch): void =>
    void navigate({ to: '/settings/tokens', search: { ...(all && { whose: 'all' }), ...search }, resetScroll: false });
  const [revoking, setRevoking] = useState<Token>();
  const heading = useRef<HTMLHeadingElement>(null);
  const columns = useMemo(() => tokenColumns(all, setRevoking), [all]);
  // The button that opened the dialog has gone with its row.
  const revoked = (): void => {
    flushSync(() => setRevoking(undefined));
    heading.current?.focus();
  };
  return (
    <section aria-labelledby="tokens" className="grid gap-3">
      <title>Tokens · Covenant</title>
      <h2 ref={heading} id="tokens" tabIndex={-1}>
        Tokens
      </h2>
      <p className="text-muted">Agents and scripts show a token to be let in. Give each its own, so that one can be revoked without the others.</p>
      <CreateToken focus={create ?? false} />
      {isOperator && (
        <label className="flex items-center gap-2 text-muted pointer-coarse:min-h-11">
          <input
            type="checkbox"
            checked={all}
            onChange={({ target }) => void navigate({ to: '/settings/tokens', search: target.checked ? { whose: 'all' } : {}, resetScroll: false })}
          />
          Everybody's tokens
        </label>
      )}
      <LiveTokens all={all} columns={columns} />
      <EndedTokens all={all} columns={columns} />
      {opened && <TokenPanel key={opened} id={opened} onClose={() => show({})} onRevoke={setRevoking} />}
      {revoking && <RevokeToken token={revoking} onClose={() => setRevoking(undefined)} onRevoked={revoked} />}
    </section>
  );
}

interface ListProps {
  all: boolean;
  columns: readonly Column<Token>[];
}

const idOf = ({ token_id }: Token): string => token_id;

function LiveTokens({ all, columns }: ListProps) {
  const [limit, setLimit] = useState(FEW);
  const { data: read, error, refetch } = useRead('tokens.list', { own: !all, status: 'live', limit });
  const data = useFrozen(read, read === undefined);
  return (
    <div className="panel">
      {error && <Problem what="The tokens could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {data && data.items.length > 0 && <Table label="Live tokens" columns={columns} rows={data.items} rowKey={idOf} />}
      {data && <More shown={data.items.length} total={data.total} onMore={limit === FEW ? () => setLimit(MANY) : undefined} />}
    </div>
  );
}

function EndedTokens({ all, columns }: ListProps) {
  const [limit, setLimit] = useState(FEW);
  const { data: read } = useRead('tokens.list', { own: !all, status: 'ended', limit });
  const data = useFrozen(read, read === undefined);
  if (!data || data.total === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer py-1 text-muted">{counted(data.total, 'revoked or expired token')}</summary>
      <div className="panel mt-2">
        <Table label="Revoked and expired tokens" columns={columns} rows={data.items} rowKey={idOf} />
        <More shown={data.items.length} total={data.total} onMore={limit === FEW ? () => setLimit(MANY) : undefined} />
      </div>
    </details>
  );
}

function More({ shown, total, onMore }: { shown: number; total: number; onMore: (() => void) | undefined }) {
  if (total <= shown) return null;
  return (
    <div className="flex flex-wrap items-center justify-center gap-3 border-t border-line p-3 text-muted">
      {shown.toLocaleString()} of {counted(total, 'token')}
      {onMore && (
        <button type="button" className="button text-text" onClick={onMore}>
          Show more tokens
        </button>
      )}
    </div>
  );
}
