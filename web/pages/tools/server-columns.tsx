import { Link } from '@tanstack/react-router';
import type { ExternalServer, Result } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Said } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import { milliseconds } from './duration.ts';

export const SERVER_TONES: Record<ExternalServer['state'], Tone> = {
  up: 'good',
  idle: 'quiet',
  starting: 'wait',
  down: 'bad',
  stopped: 'quiet',
  disabled: 'quiet',
};

/** Between the width of a card and that of a whole table there is no room for it. */
const ROOMY = 'sm:max-lg:hidden';

export type ServerUsage = Result<'tools.usage'>['items'];

export const serverColumns = (usage: ServerUsage): readonly Column<ExternalServer>[] => [
  {
    label: 'Name',
    wide: 'sm:w-[20%]',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: ({ name }) => (
      <Link to="/tools/servers" search={{ server: name }} resetScroll={false} className="font-medium hover:underline">
        <Said text={name} brief />
      </Link>
    ),
  },
  { label: 'State', wide: 'sm:w-26 lg:w-34', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ state }) => <State tone={SERVER_TONES[state]}>{state}</State> },
  { label: 'Transport', wide: `lg:w-24 ${ROOMY}`, card: `text-muted max-sm:order-3 ${ROOMY}`, cell: ({ transport }) => transport },
  {
    label: 'Tools',
    wide: 'sm:w-40 lg:w-44',
    card: 'max-sm:order-3',
    cell: ({ tools, withheld }) => (
      <>
        {counted(tools, 'tool')}
        {withheld.length > 0 && <span className="text-you">, {withheld.length} withheld</span>}
      </>
    ),
  },
  { label: 'Restarts', wide: `lg:w-24 ${ROOMY}`, card: `text-muted max-sm:hidden ${ROOMY}`, cell: ({ restarts }) => restarts },
  {
    label: 'p95',
    wide: 'sm:w-18 lg:w-24',
    card: "text-muted max-sm:order-4 max-sm:before:content-['p95_']",
    cell: ({ name }) => p95Of(usage, name),
  },
  {
    label: 'Last error',
    card: 'max-sm:order-5 max-sm:w-full',
    cell: ({ problem }) => (problem === null ? <span className="max-sm:hidden">—</span> : <span className="text-bad">{<Said text={problem} brief />}</span>),
  },
];

export function p95Of(usage: ServerUsage | undefined, server: string): string {
  const p95 = usage?.find((each) => each.server === server)?.p95_ms ?? null;
  return p95 === null ? '—' : milliseconds(p95);
}
