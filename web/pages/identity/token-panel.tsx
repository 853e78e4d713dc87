import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Token } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Id } from '../../parts/id.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { carrierOf } from './agent.ts';
import { isRotatable, RotateToken } from './rotate-token.tsx';
import { LastUsed, Owner, TOKEN_TONES } from './token-columns.tsx';

interface TokenPanelProps {
  id: string;
  onClose: () => void;
  onRevoke: (token: Token) => void;
}

export function TokenPanel({ id, onClose, onRevoke }: TokenPanelProps) {
  const { data, error, refetch } = useRead('tokens.list', { token_id: id });
  const token = data?.items[0];
  const [isRotating, setIsRotating] = useState(false);
  return (
    <SidePanel title={token?.label ?? 'Token'} onClose={onClose}>
      {error && <Problem what="The token could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {data && !token && <p className="text-muted">There is no such token, or it is somebody else's.</p>}
      {token && (
        <>
          <Facts>
            <Fact name="Status">
              <State tone={TOKEN_TONES[token.status]}>{token.status}</State>
            </Fact>
            <Fact name="Id">
              <Id id={token.token_id} />
            </Fact>
            <Fact name="For">{carrierOf(token)}</Fact>
            <Fact name="Developer">
              <Owner token={token} />
            </Fact>
            {token.instance_id && (
              <Fact name="Instance">
                <Link to="/reviews/$instance" params={{ instance: token.instance_id }} className="link">
                  {token.instance_id}
                </Link>
              </Fact>
            )}
            <Fact name="Created">
              <Time at={token.created_at} />
            </Fact>
            <Fact name="Last used">
              <LastUsed at={token.last_used_at} />
            </Fact>
            <Fact name="Expires">{token.expires_at === null ? 'never' : <Time at={token.expires_at} />}</Fact>
          </Facts>
          {token.status === 'live' && (
            <div className="grid justify-items-start gap-3">
              <div className="flex flex-wrap gap-2">
                {isRotatable(token) && <ActButton onClick={() => setIsRotating(true)}>Rotate token</ActButton>}
                <ActButton look="bad" onClick={() => onRevoke(token)}>
                  Revoke token
                </ActButton>
              </div>
              <CliCommand words={`tokens revoke ${token.token_id}`} />
            </div>
          )}
          {isRotating && <RotateToken token={token} onClose={() => setIsRotating(false)} />}
        </>
      )}
    </SidePanel>
  );
}
