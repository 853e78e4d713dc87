import type { Token } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
import { dateOf } from '../../parts/time.tsx';
import { useAct } from '../../queries.ts';
import { NewToken } from './new-token.tsx';

export const isRotatable = ({ kind, status }: Token): boolean => status === 'live' && (kind === 'agent' || kind === 'developer');

export function RotateToken({ token, onClose }: { token: Token; onClose: () => void }) {
  const rotate = useAct('tokens.rotate');
  return (
    <Dialog title={`Rotate ${token.label}?`} wide onClose={onClose}>
      <div className="mt-3 grid gap-3">
        {rotate.data ? (
          <>
            <NewToken label={token.label} token={rotate.data.token} onDone={onClose} />
            <p className="text-muted">The old secret works until {dateOf(rotate.data.old_ends_at)}.</p>
          </>
        ) : (
          <>
            <p>The token gets a new secret and keeps its id: claims, sessions and grants continue. The old secret works for 24 hours more.</p>
            <CliCommand words={`tokens rotate ${token.token_id}`} />
            {rotate.error && <Problem what="The token was not rotated." error={rotate.error} />}
            <div className="flex justify-end gap-2">
              <button type="button" className="button" data-first onClick={onClose}>
                Cancel
              </button>
              <button type="button" className="button button-primary" disabled={rotate.isPending} onClick={() => rotate.mutate({ token_id: token.token_id })}>
                Rotate token
              </button>
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
}
