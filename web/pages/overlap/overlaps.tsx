import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { call, type Match, type Overlap, type Thresholds } from '../../api.ts';
import { DataList } from '../../parts/data-list.tsx';
import type { FactValues } from '../../parts/facts.tsx';
import { Filter } from '../../parts/filter.tsx';
import { EmptyState, State, type Tone } from '../../parts/layout.tsx';
import { SearchLink, usePageSearch } from '../../parts/page-search.tsx';
import { usePages } from '../../parts/paging.ts';
import { ReadPanel, type RowPanelProps } from '../../parts/side-panel.tsx';
import type { Column } from '../../parts/table.tsx';
import { counted, Id, shortId, Time, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { Audit } from './audit.tsx';
import { DismissForm } from './dismiss-form.tsx';
import { Pair, Score } from './pair.tsx';

/** The page that lists pairs of similar work with their verdicts. */
export function Overlaps() {
  const [{ warning: opened, ...kept }, change] = usePageSearch('/tasks/overlaps');
  const { status, level, subject, before, audit } = kept;
  const repository = useRepository();
  const filter = { open: status && true, level, subject_id: subject, repository };
  const overlaps = usePages({
    key: ['overlap.list', filter],
    read: (cursor: string | undefined, limit, signal) => call('overlap.list', { ...filter, limit, before: cursor }, signal),
    next: ({ items, more }) => (more ? items.at(-1)?.warning_id : undefined),
    from: before,
  });
  const settings = overlaps.first?.settings;
  const columns = useMemo(() => overlapColumns(settings), [settings]);
  const last = overlaps.rows?.at(-1);
  const newest = { before: undefined, warning: undefined };
  return (
    <>
      <title>Overlaps · Covenant</title>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Filter label="Status" otherwise="All" choices={[['open', 'Open']]} chosen={status} onChoose={(choice) => void change({ ...newest, status: choice })} />
        <Filter
          label="Level"
          otherwise="All"
          choices={[
            ['warn', 'Warn'],
            ['escalated', 'Escalated'],
          ]}
          chosen={level}
          onChoose={(choice) => void change({ ...newest, level: choice })}
        />
        {before && (
          <SearchLink set={newest} className="link">
            Back to newest
          </SearchLink>
        )}
        {!audit && (
          <SearchLink set={{ audit: true, warning: undefined }} className="button ml-auto">
            Audit
          </SearchLink>
        )}
      </div>
      {audit && (
        <div className="mt-4">
          <Audit onClose={() => void change({ audit: undefined, warning: undefined })} />
        </div>
      )}
      {subject && <About id={subject} />}
      <section aria-label="Overlaps" className="panel mt-3">
        <DataList
          key={JSON.stringify([kept, repository])}
          noun="overlaps"
          label="Overlaps, newest first"
          list={overlaps}
          columns={columns}
          rowKey={({ warning_id }) => warning_id}
          growsAtTop
          further={{ to: '/tasks/overlaps', search: { ...kept, before: last?.warning_id } }}
          empty={<NoOverlaps open={status === 'open'} narrowed={Boolean(level || subject || before || repository)} />}
        />
      </section>
      {opened && (
        <OverlapPanel
          key={opened}
          id={opened}
          listed={overlaps.rows?.find(({ warning_id }) => warning_id === opened)}
          settings={settings}
          onClose={() => void change({ warning: undefined })}
        />
      )}
    </>
  );
}

/** Shows which task or workstream the list is filtered by. */
function About({ id }: { id: string }) {
  const isTask = id.startsWith('task_');
  const task = useRead('tasks.show', { task_id: id }, { enabled: isTask }).data?.task;
  const workstream = useRead('workstreams.show', { workstream_id: id }, { enabled: !isTask }).data;
  return (
    <p className="mt-3 flex flex-wrap items-baseline gap-x-3 gap-y-1">
      <span>
        <span className="text-muted">About </span>
        <UntrustedText text={task?.title ?? workstream?.title ?? id} className="font-medium" />
      </span>
      <Link to="/tasks/overlaps" className="link">
        All overlaps
      </Link>
    </p>
  );
}

function NoOverlaps({ open, narrowed }: { open: boolean; narrowed: boolean }) {
  const words = open
    ? 'No open overlaps.'
    : narrowed
      ? 'No overlap matches the filter.'
      : 'No overlaps yet. When an agent checks, plans or starts work that is similar to other work, the pair appears here.';
  return <EmptyState all={narrowed && { to: '/tasks/overlaps', search: { repo: undefined }, label: 'Show all overlaps' }}>{words}</EmptyState>;
}

const LEVELS: Record<Overlap['level'], Tone> = { warn: 'quiet', escalated: 'wait' };

const Level = ({ level }: Pick<Overlap, 'level'>) => <State tone={LEVELS[level]}>{level}</State>;

/** Shows the verdict on an overlap. If there is none, shows the status. */
function Verdict({ overlap: { status, verdict, level } }: { overlap: Overlap }) {
  if (verdict) return <State tone={verdict === 'distinct' ? 'good' : 'wait'}>{verdict}</State>;
  if (status === 'open') return <State tone={level === 'escalated' ? 'you' : 'quiet'}>open</State>;
  return <State tone={status === 'dismissed' ? 'quiet' : 'good'}>{status}</State>;
}

/** Shows who judged the overlap. If nobody did, it was resolved automatically, because there was nothing left to judge. */
function JudgedBy({ overlap: { status, judged_by } }: { overlap: Overlap }) {
  if (judged_by !== null) return <UntrustedText text={judged_by} brief />;
  return <span className="text-muted">{status === 'open' ? '—' : 'automatic'}</span>;
}

const bestOf = ({ matches }: Overlap) => matches.reduce((best, match) => (match.score > best.score ? match : best), matches[0] ?? NO_MATCH);
const NO_MATCH = { title: '—', owner: '—', score: 0, reason: '—' };

const overlapColumns = (settings: Thresholds | undefined): readonly Column<Overlap>[] => [
  {
    label: 'Pair',
    role: 'title',
    cell: (overlap) => (
      <SearchLink set={{ warning: overlap.warning_id }} className="group grid">
        <UntrustedText text={overlap.title} brief className="font-medium group-hover:underline" />
        <span className="line-clamp-2 text-muted">
          <UntrustedText text={overlap.developer} /> against <UntrustedText text={bestOf(overlap).owner} />: <UntrustedText text={bestOf(overlap).title} />
        </span>
      </SearchLink>
    ),
  },
  { label: 'Score', role: 'wide', width: 'sm:w-28 xl:w-36', cell: (overlap) => <Score score={bestOf(overlap).score} settings={settings} /> },
  { label: 'Level', width: 'sm:w-26', cell: ({ level }) => <Level level={level} /> },
  { label: 'Verdict', role: 'state', width: 'sm:w-28', cell: (overlap) => <Verdict overlap={overlap} /> },
  { label: 'Judged by', width: 'sm:w-[14%] xl:w-[12%]', cell: (overlap) => <JudgedBy overlap={overlap} /> },
  {
    label: 'Reason',
    role: 'wide',
    from: 'xl',
    width: 'xl:w-[20%]',
    cell: (overlap) => <UntrustedText text={bestOf(overlap).reason} brief className="text-muted" />,
  },
  { label: 'Found', role: 'end', width: 'sm:w-24', cell: ({ created_at }) => <Time at={created_at} /> },
];

function OverlapPanel({ id, listed, settings, onClose }: RowPanelProps<Overlap> & { settings: Thresholds | undefined }) {
  const query = useRead('overlap.show', { warning_id: id });
  const overlap = query.data?.overlap ?? listed;
  return (
    <ReadPanel what="The overlap" title={overlap?.title ?? shortId(id)} query={query} value={overlap} facts={factsOf} onClose={onClose}>
      {(shown) => (
        <>
          <div className="grid gap-3">
            <h3 className="text-muted">{counted(shown.matches.length, 'match', 'matches')}, side by side</h3>
            {shown.matches.map((match) => (
              <Pair
                key={match.id}
                first={{
                  heading: shown.kind === 'task' ? 'This task' : 'This workstream',
                  title: shown.title,
                  owner: shown.developer,
                  id: shown.subject_id,
                }}
                second={{ heading: HEADINGS[match.type], ...match }}
                files={match.file_overlap}
                score={match.score}
                settings={query.data?.settings ?? settings}
                reason={match.reason}
              >
                <Judged judgement={shown.judgements.find(({ id: judged }) => judged === match.id)} level={match.level} status={shown.status} />
              </Pair>
            ))}
          </div>
          {shown.status === 'open' && <DismissForm key={shown.warning_id} overlap={shown} />}
        </>
      )}
    </ReadPanel>
  );
}

const factsOf = (overlap: Overlap): FactValues => ({
  Level: <Level level={overlap.level} />,
  Verdict: <Verdict overlap={overlap} />,
  'Judged by': <JudgedBy overlap={overlap} />,
  Reason: overlap.reason && <UntrustedText text={overlap.reason} />,
  Developer: <UntrustedText text={overlap.developer} />,
  Found: <Time at={overlap.created_at} />,
  Resolved: overlap.resolved_at && <Time at={overlap.resolved_at} />,
  Warning: <Id id={overlap.warning_id} />,
});

const HEADINGS: Record<Match['type'], string> = { task: 'Task', workstream: 'Workstream', workflow_task: 'Workflow task' };

interface JudgedProps {
  judgement: Overlap['judgements'][number] | undefined;
  level: Match['level'];
  status: Overlap['status'];
}

function Judged({ judgement, level, status }: JudgedProps) {
  if (judgement) {
    return (
      <p className="flex flex-wrap items-baseline gap-2">
        <State tone={judgement.same_scope ? 'wait' : 'good'}>{judgement.same_scope ? 'same work' : 'different work'}</State>
        <UntrustedText text={judgement.reason} />
      </p>
    );
  }
  const words = status === 'open' ? 'No verdict yet.' : 'No verdict for this pair.';
  return <p className="text-muted">{level === 'escalated' ? words : 'Warning only. No verdict needed.'}</p>;
}
