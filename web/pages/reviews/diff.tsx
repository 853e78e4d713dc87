import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { InstanceDiff } from '../../api.ts';
import { CliCommand } from '../../parts/command.tsx';
import { EmptyState } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { counted, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { FileChange } from './file-change.tsx';
import { FileList } from './file-list.tsx';
import { filesOf, treeOf } from './file-tree.ts';
import { LinesChanged } from './lines-changed.tsx';

const route = getRouteApi('/reviews/$instance/diff');
/** The page polls, because no event reports that a file has changed. */
const POLL_MS = 10_000;

/** The page with all changes that the instance has made since it started, including uncommitted ones. */
export function DiffView() {
  const { instance } = route.useParams();
  const isOperator = useRead('identity.me', {}).data?.operator;
  const query = useRead('instances.diff', { instance_id: instance }, { pollMs: POLL_MS, ignoreEvents: true, enabled: isOperator === true });
  if (isOperator === false) {
    return (
      <EmptyState>
        <p>The diff needs operator rights, which the first developer of the workspace has.</p>
      </EmptyState>
    );
  }
  return (
    <section aria-label="Diff" className="grid gap-3">
      <Loaded query={query} what="The diff">
        {(diff) => (
          <>
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <Summary diff={diff} />
              <button type="button" className="button ml-auto" disabled={query.isFetching} onClick={() => void query.refetch()}>
                Reload
              </button>
            </div>
            {diff.total === 0 ? (
              <EmptyState>
                <p>No changes yet. Commits and uncommitted files appear here.</p>
              </EmptyState>
            ) : (
              <Changed diff={diff} />
            )}
            <CliCommand words={`instances diff ${instance}`} />
          </>
        )}
      </Loaded>
    </section>
  );
}

const WHERE: Record<InstanceDiff['of'], string> = {
  worktree: 'in the worktree',
  branch: 'on the branch (worktree removed)',
  backup: 'in the backup (worktree and branch removed)',
};

function Summary({ diff: { of, base_branch, from, total, added, removed, uncommitted } }: { diff: InstanceDiff }) {
  return (
    <p className="min-w-0">
      {counted(total, 'file')} <LinesChanged added={added} removed={removed} /> {WHERE[of]}, against <UntrustedText text={base_branch} /> at{' '}
      <code>{from.slice(0, 12)}</code>
      {of === 'worktree' && `; ${counted(uncommitted, 'uncommitted file')}`}.
    </p>
  );
}

function Changed({ diff }: { diff: InstanceDiff }) {
  const { path } = route.useSearch();
  const tree = useMemo(() => treeOf(diff.files), [diff.files]);
  const chosen = diff.files.find((file) => file.path === path) ?? (path === undefined ? filesOf(tree)[0] : undefined);
  return (
    <div className="grid min-w-0 items-start gap-4 lg:grid-cols-[18rem_minmax(0,1fr)]">
      <FileList tree={tree} instance={diff.instance_id} chosen={chosen?.path} leftOut={diff.total - diff.files.length} />
      {chosen ? (
        <FileChange key={chosen.path} instance={diff.instance_id} file={chosen} />
      ) : (
        <EmptyState>
          <p>
            <UntrustedText text={path ?? ''} /> has no changes any more.
          </p>
        </EmptyState>
      )}
    </div>
  );
}
