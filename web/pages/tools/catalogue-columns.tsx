import { Link } from '@tanstack/react-router';
import type { CatalogueTool } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Said } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import type { CatalogueSearch } from '../../search.ts';

export const TOOL_TONES: Record<CatalogueTool['state'], Tone> = { up: 'good', starting: 'wait', down: 'bad', withheld: 'you' };

/** A number in a column of its own; in a card with its unit. */
function Amount({ value, unit }: { value: number | null; unit: string }) {
  if (value === null) return '—';
  return (
    <>
      <span className="max-sm:hidden">{value.toLocaleString()}</span>
      <span className="sm:hidden">{counted(value, unit)}</span>
    </>
  );
}

export const catalogueColumns = (search: CatalogueSearch): readonly Column<CatalogueTool>[] => [
  {
    label: 'Tool',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: ({ name }) => (
      <Link to="/tools" search={{ ...search, tool: name }} resetScroll={false} className="mono font-medium hover:underline">
        <Said text={name} brief />
      </Link>
    ),
  },
  { label: 'Server', wide: 'sm:w-[16%]', card: 'max-sm:order-3', cell: ({ server }) => <Said text={server} brief /> },
  { label: 'State', wide: 'sm:w-28 lg:w-34', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ state }) => <State tone={TOOL_TONES[state]}>{state}</State> },
  { label: 'Tokens', wide: 'sm:w-18 lg:w-24', card: 'text-muted max-sm:order-3', cell: ({ tokens }) => <Amount value={tokens} unit="token" /> },
  { label: 'Calls 24 h', wide: 'sm:w-22 lg:w-28', card: 'text-muted max-sm:order-4', cell: ({ calls_24h }) => <Amount value={calls_24h} unit="call" /> },
  {
    label: 'Errors',
    wide: 'sm:w-16 lg:w-24',
    card: 'max-sm:order-4',
    cell: ({ errors_24h }) => (
      <span className={errors_24h > 0 ? 'font-medium text-bad' : 'text-muted'}>
        <Amount value={errors_24h} unit="error" />
      </span>
    ),
  },
];
