import type { ActionResult } from '../../api.ts';
import { costWords } from '../../parts/cost.ts';
import { counted } from '../../parts/count.ts';

/** The sum of everything in the chosen days. */
export function Totals({ totals, onPrices }: { totals: ActionResult<'usage.list'>['totals']; onPrices: () => void }) {
  const figures = [
    ['Cost', costWords(totals)],
    ['Input tokens', totals.input_tokens.toLocaleString()],
    ['Cached', totals.cached_input_tokens.toLocaleString()],
    ['Cache writes', totals.cache_creation_tokens.toLocaleString()],
    ['Output tokens', totals.output_tokens.toLocaleString()],
    ['Sessions', totals.sessions === 0 ? '—' : totals.sessions.toLocaleString()],
  ] as const;
  return (
    <section aria-label="Totals" className="grid gap-2">
      <dl className="panel grid grid-cols-2 gap-x-6 gap-y-3 p-4 sm:grid-cols-3 xl:grid-cols-6">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt className="text-label text-muted">{name}</dt>
            <dd className="text-section font-semibold">{value}</dd>
          </div>
        ))}
      </dl>
      {totals.unpriced > 0 && (
        <p className="text-muted">
          {counted(totals.unpriced, 'report')} of {totals.spans.toLocaleString()} {totals.unpriced === 1 ? 'has' : 'have'} no known price and{' '}
          {totals.unpriced === 1 ? 'is' : 'are'} in no cost.{' '}
          <button type="button" className="link" onClick={onPrices}>
            Set prices
          </button>
        </p>
      )}
      {totals.mismatches > 0 && (
        <p className="text-muted">For {counted(totals.mismatches, 'report')} the cost that was submitted is not the one that the prices give.</p>
      )}
    </section>
  );
}
