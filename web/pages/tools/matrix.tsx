import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ActionResult } from '../../api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { EmptyState, State } from '../../parts/layout.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { wholeList } from '../../parts/paging.ts';
import type { Column } from '../../parts/table.tsx';
import { counted, escapeBidi, shortId, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { ANSWER_MEANINGS, ANSWER_TONES } from './access.tsx';
import { FilterText, ServerFilter } from './filters.tsx';

const TOOLS = 50;
const CALLERS = 6;

/** The page with a table of tools and tokens. Each cell shows whether the token may call the tool. */
export function Matrix() {
  const [{ q, server, from = 0, callers = 0 }, change] = usePageSearch('/tools/matrix');
  const query = useRead('capabilities.matrix', { limit: TOOLS, offset: from, callers_limit: CALLERS, callers_offset: callers, text: q, server });
  const { data } = query;
  const columns = useMemo(() => matrixColumns(data?.callers ?? []), [data]);
  return (
    <>
      <title>Access · Covenant</title>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <FilterText label="Filter by name" value={q} onChange={(text) => void change({ q: text, from: undefined, callers: undefined })} />
        <ServerFilter chosen={server} onChoose={(choice) => void change({ server: choice, from: undefined, callers: undefined })} />
      </div>
      <p className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-muted">
        {ANSWER_MEANINGS.map(([answer, meaning]) => (
          <span key={answer} className="flex items-center gap-1.5">
            <State tone={ANSWER_TONES[answer]}>{answer}</State> {meaning}
          </span>
        ))}
      </p>
      <section aria-label="Access by tool and token" className="panel mt-3">
        <DataList
          noun="tools"
          what="The access table"
          label="Tools and tokens"
          list={wholeList(query)}
          columns={columns}
          rowKey={({ name }) => name}
          empty={<EmptyState all={{ to: '/tools/matrix', label: 'Show all tools' }}>No tool matches the filter.</EmptyState>}
        />
        {data && (
          <div className="flex flex-wrap justify-between gap-3 border-t border-line p-3">
            <Pager label={counted(data.total, 'tool')} from={from} step={TOOLS} total={data.total} onGo={(next) => void change({ from: next || undefined })} />
            <Pager
              label={counted(data.total_callers, 'caller')}
              from={callers}
              step={CALLERS}
              total={data.total_callers}
              onGo={(next) => void change({ callers: next || undefined })}
            />
          </div>
        )}
      </section>
    </>
  );
}

type Answered = ActionResult<'capabilities.matrix'>;
type Row = Answered['items'][number];
type Caller = Answered['callers'][number];

const matrixColumns = (callers: Answered['callers']): readonly Column<Row>[] => [
  {
    label: 'Tool',
    width: 'sm:w-[30%]',
    role: 'wide',
    cell: ({ name }) => (
      <Link to="/tools" search={{ tool: name }} className="mono font-medium hover:underline">
        <UntrustedText text={name} brief />
      </Link>
    ),
  },
  ...callers.map((caller, at) => ({
    label: headingOf(caller, callers),
    role: 'wide' as const,
    cell: ({ name, answers }: Row) => <Cell tool={name} caller={caller} heading={headingOf(caller, callers)} answer={answers[at] ?? 'no'} />,
  })),
];

/** Returns a column heading. If several tokens belong to the same agent, adds the label, or the id if the labels are equal. */
function headingOf({ name, label, subject }: Caller, all: readonly Caller[]): string {
  const same = all.filter((each) => each.name === name);
  if (same.length === 1) return name;
  const labelled = same.filter((each) => each.label === label).length === 1 && label !== '';
  return escapeBidi(`${name}, ${labelled ? label : shortId(subject.replace(/^token:/, ''))}`);
}

function Cell({ tool, caller, heading, answer }: { tool: string; caller: Caller; heading: string; answer: Row['answers'][number] }) {
  return (
    <Link to="/tools" search={{ who: caller.subject, can: tool }} className="flex items-center justify-between gap-2 hover:underline pointer-coarse:min-h-11">
      <span className="sr-only">{`${heading}, ${tool}: `}</span>
      <span aria-hidden="true" className="min-w-0 text-muted sm:hidden">
        <UntrustedText text={heading} brief />
      </span>
      <State tone={ANSWER_TONES[answer]}>{answer}</State>
    </Link>
  );
}

interface PagerProps {
  /** The total number with its unit, such as "12 tools". */
  label: string;
  from: number;
  step: number;
  total: number;
  onGo: (from: number) => void;
}

/** Buttons for the previous and the next page. If there is only one page, only the total is shown. */
function Pager({ label, from, step, total, onGo }: PagerProps) {
  if (total <= step && from === 0) return <p className="text-muted">{label}</p>;
  const last = Math.min(from + step, total);
  return (
    <div className="flex items-center gap-2">
      <button type="button" className="button" aria-label={`Previous page, ${label}`} disabled={from === 0} onClick={() => onGo(Math.max(0, from - step))}>
        ‹
      </button>
      <span className="text-muted">
        {from + 1}–{last} of {label}
      </span>
      <button type="button" className="button" aria-label={`Next page, ${label}`} disabled={last >= total} onClick={() => onGo(from + step)}>
        ›
      </button>
    </div>
  );
}
