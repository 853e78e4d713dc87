import type { Token } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useAct } from '../../queries.ts';
import { carrierOf } from './agent.ts';

interface RevokeTokenProps {
  token: Token;
  onClose: () => void;
  onRevoked: () => void;
}

export function RevokeToken({ token, onClose, onRevoked }: RevokeTokenProps) {
  const revoke = useAct('tokens.revoke');
  return (
    <Dialog title={`Revoke ${token.label}?`} onClose={onClose}>
      <div className="mt-3 grid gap-3">
        <p>{consequence(token)} This cannot be undone.</p>
        <CliCommand words={`tokens revoke ${token.token_id}`} />
        {revoke.error && <Problem what="The token was not revoked." error={revoke.error} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" data-first onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className="button button-bad"
            disabled={revoke.isPending}
            onClick={() => revoke.mutate({ token_id: token.token_id }, { onSuccess: onRevoked })}
          >
            Revoke token
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function consequence(token: Token): string {
  if (token.kind === 'web') return 'That browser is signed out at its next request. It may be the one you are using.';
  return `${carrierOf(token)} that shows this token is refused from the next call on.`;
}
