import { Link, type LinkProps } from '@tanstack/react-router';
import type { Pages } from './pages.ts';

interface MoreRowsProps {
  pages: Pick<Pages<unknown, unknown>, 'goesOn' | 'reading' | 'readMore'>;
  /** What the rows are: "tasks". */
  what: string;
  /** The address at which a list goes on that is full. */
  further: Pick<LinkProps, 'to' | 'search'>;
}

/** The end of a list that is not all there. */
export function MoreRows({ pages: { goesOn, reading, readMore }, what, further }: MoreRowsProps) {
  if (goesOn === 'no') return null;
  return (
    <div className="grid justify-items-center border-t border-line p-3">
      {goesOn === 'elsewhere' ? (
        <Link {...further} className="button">
          Older {what}
        </Link>
      ) : (
        <button type="button" className="button" disabled={reading} aria-busy={reading || undefined} onClick={readMore}>
          Show more {what}
        </button>
      )}
    </div>
  );
}
