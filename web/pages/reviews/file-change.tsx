import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ChangedFile, call, type DiffLine } from '../../api.ts';
import { CliCommand } from '../../parts/command.tsx';
import { EmptyState, Problem, State } from '../../parts/layout.tsx';
import { TableSkeleton } from '../../parts/loaded.tsx';
import { counted, escapeBidi, UntrustedText } from '../../parts/values.tsx';
import { LinesChanged } from './lines-changed.tsx';

/** If a file has more changed lines than this, its lines are folded at first. */
const FOLDED_ABOVE = 800;

const CHANGES: Record<ChangedFile['change'], string> = {
  added: 'new',
  modified: 'changed',
  deleted: 'deleted',
  renamed: 'renamed',
  conflict: 'conflict',
  repository: 'another repository',
};

/** Shows one changed file with the kind of the change and the changed lines. */
export function FileChange({ instance, file }: { instance: string; file: ChangedFile }) {
  const size = (file.added ?? 0) + (file.removed ?? 0);
  const [open, setOpen] = useState(size <= FOLDED_ABOVE);
  return (
    <article aria-label={file.path} className="panel min-w-0 overflow-hidden">
      <header className="flex flex-wrap items-center gap-2 border-b border-line bg-surface px-3 py-2">
        <h2 className="mono min-w-0 text-body! wrap-anywhere">
          {file.before !== null && (
            <>
              <UntrustedText text={file.before} /> →{' '}
            </>
          )}
          <UntrustedText text={file.path} />
        </h2>
        <State tone="quiet">{CHANGES[file.change]}</State>
        {file.binary && <State tone="quiet">binary</State>}
        {file.uncommitted && <State tone="wait">uncommitted</State>}
        <span className="ml-auto">
          <LinesChanged added={file.added} removed={file.removed} />
        </span>
      </header>
      {open ? (
        <Lines instance={instance} file={file} />
      ) : (
        <EmptyState>
          <p>Large file, folded.</p>
          <button type="button" className="button" onClick={() => setOpen(true)}>
            Show {counted(size, 'changed line')}
          </button>
        </EmptyState>
      )}
    </article>
  );
}

function Lines({ instance, file }: { instance: string; file: ChangedFile }) {
  const { path } = file;
  const pages = useInfiniteQuery({
    // The line counts are part of the key, so that the file is loaded again when they change.
    queryKey: ['instances.diff', instance, path, file.added, file.removed],
    queryFn: ({ pageParam, signal }) => call('instances.diff', { instance_id: instance, path, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ file: read }) => {
      const end = read ? read.offset + read.lines.length : 0;
      return read?.total_lines && read.lines.length > 0 && end < read.total_lines ? end : undefined;
    },
    staleTime: 'static',
    placeholderData: keepPreviousData,
  });
  if (pages.error) return <Problem what="The lines could not be loaded." error={pages.error} onRetry={() => void pages.refetch()} />;
  if (!pages.data) return <TableSkeleton />;
  const lines = pages.data.pages.flatMap((page) => page.file?.lines ?? []);
  const total = pages.data.pages[0]?.file?.total_lines;
  if (total === null) {
    return (
      <EmptyState>
        <p>Too many changes to show here. Open the file in its worktree.</p>
      </EmptyState>
    );
  }
  if (lines.length === 0) {
    return (
      <EmptyState>
        <p>{WITHOUT_LINES[file.binary ? 'binary' : file.change]}</p>
      </EmptyState>
    );
  }
  return (
    <>
      <PatchTable path={path} lines={lines} />
      {pages.hasNextPage && (
        <div className="grid justify-items-center gap-2 border-t border-line p-3">
          <button type="button" className="button" disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Show more of {counted(total ?? 0, 'line')}
          </button>
          <CliCommand words={`instances diff ${instance}`} options={{ path }} />
        </div>
      )}
    </>
  );
}

const WITHOUT_LINES: Record<ChangedFile['change'] | 'binary', string> = {
  binary: 'Binary file.',
  added: 'New empty file.',
  deleted: 'Empty file, deleted.',
  modified: 'No changed lines: only the mode changed, or the change was reverted.',
  renamed: 'Renamed without changes.',
  conflict: 'Conflict without changed lines.',
  repository: 'A separate repository. Open its changes there.',
};

const LOOK: Record<DiffLine['kind'], { sign: string; name: string; row: string }> = {
  hunk: { sign: '', name: '', row: 'bg-surface text-muted' },
  context: { sign: ' ', name: '', row: '' },
  added: { sign: '+', name: 'added', row: 'bg-good-tint' },
  removed: { sign: '−', name: 'removed', row: 'bg-bad-tint' },
  note: { sign: '', name: '', row: 'text-muted italic' },
};

/** Shows the changed lines with their old and new line numbers. Long lines wrap. */
function PatchTable({ path, lines }: { path: string; lines: readonly DiffLine[] }) {
  return (
    <table aria-label={`Changed lines of ${escapeBidi(path)}`} className="mono w-full table-fixed">
      <colgroup>
        <col className="w-11 max-sm:hidden" />
        <col className="w-11" />
        <col className="w-5" />
        <col />
      </colgroup>
      <thead className="sr-only">
        <tr>
          <th scope="col">Before</th>
          <th scope="col">After</th>
          <th scope="col">Change</th>
          <th scope="col">Line</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key, and pages are only added at the end
          <Line key={index} line={line} />
        ))}
      </tbody>
    </table>
  );
}

function Line({ line: { kind, before, after, text, cut } }: { line: DiffLine }) {
  const { sign, name, row } = LOOK[kind];
  return (
    <tr className={`align-top ${row}`}>
      <td className="pr-2 text-right text-muted select-none max-sm:hidden">{before}</td>
      <td className="pr-2 text-right text-muted select-none">{after}</td>
      <td className="text-center select-none">
        <span aria-hidden="true">{sign}</span>
        {name && <span className="sr-only">{name}</span>}
      </td>
      <td className="pr-2">
        <UntrustedText text={text} />
        {cut > 0 && <span className="text-muted"> … {counted(cut, 'character')} more</span>}
      </td>
    </tr>
  );
}
