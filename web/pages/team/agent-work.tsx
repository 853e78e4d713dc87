import type { ShownAgent } from '../../api.ts';
import { PanelList, Section, State, type Tone } from '../../parts/layout.tsx';
import { AgentName, counted, PathLink, Time, UntrustedText } from '../../parts/values.tsx';

type Work = ShownAgent['work'][number];

const ENDS: Record<Work['end'], { tone: Tone; words: string }> = {
  held: { tone: 'live', words: 'held' },
  done: { tone: 'good', words: 'done' },
  failed: { tone: 'bad', words: 'failed' },
  released: { tone: 'quiet', words: 'released' },
  lost: { tone: 'bad', words: 'lost' },
};

/** Lists the agent's work in the last day. For each item, shows how the work ended and who continued it. */
export function AgentWork({ work }: { work: readonly Work[] }) {
  return (
    <Section title="Work, last 24 hours" about={work.length > 0 && counted(work.length, 'work item')}>
      <PanelList items={work} empty="No work in the last 24 hours.">
        {(piece) => (
          <li key={`${piece.id} ${piece.from}`} className="grid gap-1 px-3 py-2">
            <p className="flex flex-wrap items-center gap-x-2">
              <State tone={ENDS[piece.end].tone}>{ENDS[piece.end].words}</State>
              <PathLink path={piece.path} className="min-w-0 font-medium hover:underline">
                <UntrustedText text={piece.title} brief />
              </PathLink>
              <span className="ml-auto text-label text-muted">
                <Time at={piece.to ?? piece.from} />
              </span>
            </p>
            <Ending piece={piece} />
            {piece.checkpoint && (
              <p className="text-muted">
                Last checkpoint ({piece.checkpoint.type}, <Time at={piece.checkpoint.created_at} />
                ): <UntrustedText text={piece.checkpoint.summary} brief />
              </p>
            )}
          </li>
        )}
      </PanelList>
    </Section>
  );
}

function Ending({ piece: { end, reason, to, taken_by, taken_at } }: { piece: Work }) {
  if (end !== 'lost' && reason === null) return null;
  return (
    <p className={end === 'lost' ? 'text-bad' : 'text-muted'}>
      {to !== null && (
        <>
          <Time at={to} />:{' '}
        </>
      )}
      {reason && <UntrustedText text={reason} />}
      {end === 'lost' && taken_by && taken_at !== null && (
        <>
          {' · continued by '}
          <AgentName name={taken_by.name} id={taken_by.agent_id} brief={false} />, <Time at={taken_at} />
        </>
      )}
      {end === 'lost' && !taken_by && ' · not continued yet'}
    </p>
  );
}

/** Lists the agent's working trees, with the state that its sessions last reported. */
export function AgentWorktrees({ worktrees }: Pick<ShownAgent, 'worktrees'>) {
  return (
    <Section title="Working trees" about={worktrees.length > 0 && 'as last reported'}>
      <PanelList items={worktrees} empty="No working tree reported.">
        {({ repo, branch, worktree, dirty, dirty_count, unpushed, unpushed_count, reported_at }) => (
          <li key={`${repo} ${branch} ${worktree}`} className="grid gap-1 px-3 py-2">
            <p className="flex flex-wrap items-center gap-x-2">
              <UntrustedText text={[repo, branch].filter(Boolean).join(' · ')} brief className="min-w-0 font-medium" />
              <State tone={dirty_count > 0 ? 'wait' : 'good'}>{dirty_count > 0 ? counted(dirty_count, 'uncommitted file') : 'clean'}</State>
              {unpushed_count > 0 && <State tone="wait">{counted(unpushed_count, 'unpushed file')}</State>}
              <span className="ml-auto text-label text-muted">
                <Time at={reported_at} />
              </span>
            </p>
            {worktree && (
              <p className="mono text-muted">
                <UntrustedText text={worktree} brief />
              </p>
            )}
            <Files label="Uncommitted" files={dirty} count={dirty_count} />
            <Files label="Unpushed" files={unpushed} count={unpushed_count} />
          </li>
        )}
      </PanelList>
    </Section>
  );
}

function Files({ label, files, count }: { label: string; files: readonly string[]; count: number }) {
  if (files.length === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer text-muted">
        {label}: {counted(count, 'file')}
      </summary>
      <ul className="mono mt-1 grid gap-0.5">
        {files.map((file) => (
          <li key={file}>
            <UntrustedText text={file} />
          </li>
        ))}
        {count > files.length && <li className="text-muted">and {count - files.length} more</li>}
      </ul>
    </details>
  );
}
