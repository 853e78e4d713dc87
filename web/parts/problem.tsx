import { ApiError } from '../api.ts';
import { Notice } from './tone.tsx';

/** What failed, in the server's words, where it failed. */
export function Problem({ what, error, onRetry }: { what: string; error: unknown; onRetry?: () => void }) {
  const known = error instanceof ApiError ? error : undefined;
  return (
    <Notice tone="bad" role="alert">
      <p>
        <strong className="font-semibold">{what}</strong> {known?.message ?? String(error)} {known?.suggestion}
      </p>
      {known && <code>{known.code}</code>}
      {onRetry && (
        <button type="button" className="button mt-2 flex text-text" onClick={onRetry}>
          Retry
        </button>
      )}
    </Notice>
  );
}
