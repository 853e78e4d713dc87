import { Link } from '@tanstack/react-router';
import type { Result } from '../../api.ts';
import { shortId } from '../../parts/id.tsx';
import { disarmed, Said } from '../../parts/said.tsx';
import type { Column } from '../../parts/table.tsx';
import { State } from '../../parts/tone.tsx';
import { ANSWER_TONES, ANSWER_WORDS } from './answer.ts';

type Answered = Result<'capabilities.matrix'>;
type Row = Answered['items'][number];
type Caller = Answered['callers'][number];

export const matrixColumns = (callers: Answered['callers']): readonly Column<Row>[] => [
  {
    label: 'Tool',
    wide: 'sm:w-[30%]',
    card: 'max-sm:w-full max-sm:font-medium',
    cell: ({ name }) => (
      <Link to="/tools" search={{ tool: name }} className="mono font-medium hover:underline">
        <Said text={name} brief />
      </Link>
    ),
  },
  ...callers.map((caller, at) => ({
    label: headingOf(caller, callers),
    card: 'max-sm:w-full',
    cell: ({ name, answers }: Row) => <Cell tool={name} caller={caller} heading={headingOf(caller, callers)} answer={answers[at] ?? 'no'} />,
  })),
];

/** Two tokens of one agent differ by their labels, private ones by their ids alone. */
function headingOf({ name, label, subject }: Caller, all: readonly Caller[]): string {
  const same = all.filter((each) => each.name === name);
  if (same.length === 1) return name;
  const labelled = same.filter((each) => each.label === label).length === 1 && label !== '';
  return disarmed(`${name}, ${labelled ? label : shortId(subject.replace(/^token:/, ''))}`);
}

function Cell({ tool, caller, heading, answer }: { tool: string; caller: Caller; heading: string; answer: Row['answers'][number] }) {
  return (
    <Link to="/tools" search={{ who: caller.subject, can: tool }} className="flex items-center justify-between gap-2 hover:underline pointer-coarse:min-h-11">
      <span className="sr-only">{`${heading}, ${tool}: `}</span>
      <span aria-hidden="true" className="min-w-0 text-muted sm:hidden">
        <Said text={heading} brief />
      </span>
      <State tone={ANSWER_TONES[answer]}>{ANSWER_WORDS[answer]}</State>
    </Link>
  );
}
