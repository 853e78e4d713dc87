import { CopyOutcome, useCopy } from './copy.tsx';

const ID = /^([a-z]+)_[0-9A-Z]{20,}$/;
export const isId = (text: string): boolean => ID.test(text);

/** Prefix and last six; the whole where it is not one of our ids. */
export const shortId = (id: string): string => (isId(id) ? id.replace(ID, `$1_…${id.slice(-6)}`) : id);

/** Shortened; a click copies the whole. */
export function Id({ id }: { id: string }) {
  const { outcome, copy } = useCopy(id);
  const said = outcome === 'copied' ? 'copied' : outcome === 'failed' ? id : shortId(id);
  return (
    <span className="relative">
      <button
        type="button"
        className="mono rounded text-left hover:underline"
        title={`${id} (click copies)`}
        aria-label={`${said}, copies ${id}`}
        onClick={copy}
      >
        {said}
      </button>
      <CopyOutcome words={outcome === 'idle' ? undefined : said} />
    </span>
  );
}
