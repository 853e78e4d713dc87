import type { ShownAgent } from '../../api.ts';
import { PanelList, Section, State, type Tone } from '../../parts/layout.tsx';
import { AgentName, counted, dateOf, PathLink, Time, Until, UntrustedText } from '../../parts/values.tsx';

interface Holding {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly path: string | null;
  readonly about: string;
  readonly since: number | null;
  readonly expires: number | null;
}

function holdingsOf({ tasks, steps, claims, locks }: ShownAgent): Holding[] {
  return [
    ...steps.map(({ task_id, name, workflow_name, fence, claimed_at, lease_expires_at, path }) => ({
      id: task_id,
      kind: 'step',
      title: name,
      path,
      about: `${workflow_name ?? 'workflow'} · fence ${fence}`,
      since: claimed_at,
      expires: lease_expires_at,
    })),
    ...tasks.map(({ task_id, title, status, since, path }) => ({ id: task_id, kind: 'task', title, path, about: status, since, expires: null })),
    ...claims.map(({ claim_id, repo, patterns, mode, reason, expires_at, path }) => ({
      id: claim_id,
      kind: 'claim',
      title: patterns.join(', '),
      path,
      about: [repo, mode, reason].filter(Boolean).join(' · '),
      since: null,
      expires: expires_at,
    })),
    ...locks.map(({ cycle, feature, role, since, session_expires_at, path }) => ({
      id: cycle,
      kind: 'turn',
      title: feature,
      path,
      about: `as ${role}`,
      since,
      expires: session_expires_at,
    })),
  ];
}

/** Everything that nobody else can have as long as it has it. */
export function AgentHolds({ shown }: { shown: ShownAgent }) {
  const holdings = holdingsOf(shown);
  const { tasks, steps, claims, locks } = shown.agent.holds;
  const all = tasks + steps + claims + locks;
  return (
    <Section title="Holds" about={all > 0 && counted(all, 'thing')}>
      <PanelList items={holdings} empty="It holds nothing." more={all - holdings.length}>
        {({ id, kind, title, path, about, since, expires }) => (
          <li key={id} data-row data-id={id} className="grid grid-cols-[4.5rem_minmax(0,1fr)_auto] items-baseline gap-x-3 px-3 py-2">
            <span>
              <State tone="live">{kind}</State>
            </span>
            <div className="min-w-0">
              <PathLink path={path} className="font-medium hover:underline">
                <UntrustedText text={title} brief />
              </PathLink>
              <p className="text-muted">
                <UntrustedText text={about} brief />
              </p>
            </div>
            <span className="text-right text-label text-muted">
              {since !== null && (
                <span className="block">
                  for <Time at={since} />
                </span>
              )}
              {expires !== null && (
                <span className="block">
                  expires <Until at={expires} />
                </span>
              )}
            </span>
          </li>
        )}
      </PanelList>
    </Section>
  );
}

type Work = ShownAgent['work'][number];

const ENDS: Record<Work['end'], { tone: Tone; words: string }> = {
  held: { tone: 'live', words: 'held' },
  done: { tone: 'good', words: 'done' },
  failed: { tone: 'bad', words: 'failed' },
  released: { tone: 'quiet', words: 'given back' },
  lost: { tone: 'bad', words: 'lost' },
};

/** What it had in hand in the last day: where it stopped, and who went on. */
export function AgentWork({ work }: { work: readonly Work[] }) {
  return (
    <Section title="In the last 24 hours" about={work.length > 0 && counted(work.length, 'piece of work', 'pieces of work')}>
      <PanelList items={work} empty="It held no work.">
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
                Last checkpoint ({piece.checkpoint.type}, {dateOf(piece.checkpoint.created_at)}): <UntrustedText text={piece.checkpoint.summary} brief />
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
      {to !== null && `${dateOf(to)}: `}
      {reason && <UntrustedText text={reason} />}
      {end === 'lost' && taken_by && taken_at !== null && (
        <>
          {' · taken up by '}
          <AgentName name={taken_by.name} id={taken_by.agent_id} brief={false} />
          {`, ${dateOf(taken_at)}`}
        </>
      )}
      {end === 'lost' && !taken_by && ' · nobody has taken it up'}
    </p>
  );
}

/** Where its work lies, as its sessions reported it last. */
export function AgentWorktrees({ worktrees }: Pick<ShownAgent, 'worktrees'>) {
  return (
    <Section title="Working trees" about={worktrees.length > 0 && 'as reported'}>
      <PanelList items={worktrees} empty="It has reported no working tree.">
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
