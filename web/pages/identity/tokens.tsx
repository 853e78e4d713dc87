import { useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Token } from '../../api.ts';
import { Problem } from '../../parts/problem.tsx';
import { Table, TableSkeleton } from '../../parts/table.tsx';
import { useRead } from '../../queries.ts';
import { CreateToken } from './create-token.tsx';
import { RevokeToken } from './revoke-token.tsx';
import { tokenColumns } from './token-columns.tsx';

/** The signed-in developer's own: an admin's list holds everybody's. */
export function Tokens() {
  const me = useRead('identity.me', {}).data;
  const { data, error, refetch } = useRead('tokens.list', {});
  const [revoking, setRevoking] = useState<Token>();
  const heading = useRef<HTMLHeadingElement>(null);
  const columns = useMemo(() => tokenColumns(setRevoking), []);
  const own = (data?.items ?? []).filter((token) => token.developer_id === me?.developer_id).sort((a, b) => b.created_at - a.created_at);
  const live = own.filter(({ status }) => status === 'live');
  const ended = own.filter(({ status }) => status !== 'live');
  // The button that opened the dialog has gone with its row.
  const revoked = (): void => {
    flushSync(() => setRevoking(undefined));
    heading.current?.focus();
  };
  return (
    <section aria-labelledby="tokens" className="grid gap-3">
      <h2 ref={heading} id="tokens" tabIndex={-1}>
        Tokens
      </h2>
      <p className="text-muted">Agents and scripts show a token to be let in. Give each its own, so that one can be revoked without the others.</p>
      <CreateToken />
      <div className="panel">
        {error && <Problem what="The tokens could not be read." error={error} onRetry={() => void refetch()} />}
        {!data && !error && <TableSkeleton />}
        {live.length > 0 && <Table label="Live tokens" columns={columns} rows={live} rowKey={({ token_id }) => token_id} />}
      </div>
      {ended.length > 0 && (
        <details>
          <summary className="cursor-pointer py-1 text-muted">
            {ended.length} revoked or expired {ended.length === 1 ? 'token' : 'tokens'}
          </summary>
          <div className="panel mt-2">
            <Table label="Revoked and expired tokens" columns={columns} rows={ended} rowKey={({ token_id }) => token_id} />
          </div>
        </details>
      )}
      {revoking && <RevokeToken token={revoking} onClose={() => setRevoking(undefined)} onRevoked={revoked} />}
    </section>
  );
}
