import { ApiError } from '../api.ts';
import { useRead } from '../queries.ts';
import { CliCommand } from './cli.tsx';
import { Notice } from './tone.tsx';

/** A link that is opened in another tab of this browser signs in this one too. */
function FreshSignIn() {
  const me = useRead('identity.me', {}).data;
  return (
    <div className="mt-2 text-text">
      <CliCommand words="open" options={{ developer: me?.developer ?? undefined }} />
    </div>
  );
}

/** What failed, in the server's words, where it failed. */
export function Problem({ what, error, onRetry }: { what: string; error: unknown; onRetry?: () => void }) {
  const known = error instanceof ApiError ? error : undefined;
  return (
    <Notice tone="bad" role="alert">
      <p>
        <strong className="font-semibold">{what}</strong> {known?.message ?? String(error)} {known?.suggestion}
      </p>
      {known && <code>{known.code}</code>}
      {known?.code === 'SIGN_IN_AGAIN' && <FreshSignIn />}
      {onRetry && (
        <button type="button" className="button mt-2 flex text-text" onClick={onRetry}>
          Retry
        </button>
      )}
    </Notice>
  );
}
