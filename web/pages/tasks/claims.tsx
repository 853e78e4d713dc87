import { Link } from '@tanstack/react-router';
import { type Claim, call } from '../../api.ts';
import { ConfirmAction } from '../../parts/actions.tsx';
import { ActorName } from '../../parts/actor-name.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import type { FactValues } from '../../parts/facts.tsx';
import { CheckFilter } from '../../parts/filter.tsx';
import { EmptyState, NameList, PanelList, Section, State, type Tone } from '../../parts/layout.tsx';
import { SearchLink, usePageSearch } from '../../parts/page-search.tsx';
import { usePages } from '../../parts/paging.ts';
import { ReadPanel, type RowPanelProps } from '../../parts/side-panel.tsx';
import type { Column } from '../../parts/table.tsx';
import { AgentName, counted, escapeBidi, Id, shortId, Time, Until, UntrustedText, workerOf } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { deniedEditIn, writerOf } from '../events/denied-edit.ts';

/** The page that lists the current claims on files. */
export function Claims() {
  const [{ claim: opened, mine, before }, change] = usePageSearch('/tasks/claims');
  const repository = useRepository();
  const filter = { mine, repository };
  const claims = usePages({
    key: ['claims.list', filter],
    read: (cursor: string | undefined, limit, signal) => call('claims.list', { ...filter, limit, before: cursor }, signal),
    next: ({ items, more }) => (more ? items.at(-1)?.claim_id : undefined),
    from: before,
  });
  const last = claims.rows?.at(-1);
  return (
    <>
      <title>Claims · Covenant</title>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-muted">
        <CheckFilter
          label="Only mine"
          checked={mine ?? false}
          onChange={(checked) => void change({ mine: checked || undefined, before: undefined, claim: undefined })}
        />
        {claims.first && (
          <p>
            {counted(claims.first.total, 'live claim')}
            {claims.first.total > 0 && ', newest first'}
          </p>
        )}
        {before && (
          <SearchLink set={{ before: undefined }} className="link">
            Back to newest
          </SearchLink>
        )}
      </div>
      <section data-home tabIndex={-1} aria-label="Claims" className="panel mt-3 outline-none">
        <DataList
          key={`${mine} ${before} ${repository}`}
          noun="claims"
          label="Live claims, newest first"
          list={claims}
          columns={COLUMNS}
          rowKey={({ claim_id }) => claim_id}
          growsAtTop
          further={{ to: '/tasks/claims', search: { mine, before: last?.claim_id } }}
          empty={<NoClaims narrowed={mine === true || repository !== undefined || before !== undefined} />}
        />
      </section>
      {opened && (
        <ClaimPanel
          key={opened}
          id={opened}
          listed={claims.rows?.find(({ claim_id }) => claim_id === opened)}
          onClose={() => void change({ claim: undefined })}
        />
      )}
    </>
  );
}

function NoClaims({ narrowed }: { narrowed: boolean }) {
  if (narrowed) {
    return <EmptyState all={{ to: '/tasks/claims', search: { repo: undefined }, label: 'Show all live claims' }}>No live claim matches the filter.</EmptyState>;
  }
  return (
    <EmptyState>
      <p>No live claims. Connected agents claim files here before they edit them. To connect one, run:</p>
      <CliCommand words="connect claude-code" />
    </EmptyState>
  );
}

const STATES: Record<Claim['state'], Tone> = { live: 'live', released: 'quiet', expired: 'quiet' };
/** The colour of each mode. An exclusive claim stands out, because it keeps other agents from editing. */
const MODES: Record<Claim['mode'], Tone> = { exclusive: 'wait', shared: 'live' };
const Mode = ({ claim: { mode } }: { claim: Claim }) => <State tone={MODES[mode]}>{mode}</State>;
const Holder = ({ claim: { developer, agent_type, agent_id } }: { claim: Claim }) => <AgentName name={workerOf(developer, agent_type)} id={agent_id} />;

/** How many path patterns a row shows. The panel shows all of them. */
const FIRST = 3;
const patternsIn = ({ paths, symbols }: Claim): string[] => [...paths, ...symbols];

function shortPatterns(claim: Claim): string {
  const all = patternsIn(claim);
  return all.length > FIRST ? `${all.slice(0, FIRST).join(', ')} and ${all.length - FIRST} more` : all.join(', ');
}

const COLUMNS: readonly Column<Claim>[] = [
  {
    label: 'Pattern',
    role: 'title',
    cell: (claim) => (
      <SearchLink set={{ claim: claim.claim_id }} className="mono hover:underline">
        <UntrustedText text={shortPatterns(claim)} brief />
      </SearchLink>
    ),
  },
  { label: 'Mode', role: 'state', cell: (claim) => <Mode claim={claim} /> },
  { label: 'Holder', width: 'sm:w-[18%]', cell: (claim) => <Holder claim={claim} /> },
  { label: 'Repository', role: 'meta', from: 'lg', width: 'lg:w-[20%]', cell: ({ repo }) => <UntrustedText text={repo} brief /> },
  { label: 'Expires', role: 'end', width: 'sm:w-24 lg:w-28', cell: ({ expires_at }) => <Until at={expires_at} /> },
  { label: 'Actions', role: 'none', width: 'sm:w-24', cell: (claim) => <ReleaseClaim claim={claim} inRow /> },
];

/** Shows one claim. The claim may have ended. */
function ClaimPanel({ id, listed, onClose }: RowPanelProps<Claim>) {
  const query = useRead('claims.show', { claim_id: id });
  const claim = query.data?.claim ?? listed;
  return (
    <ReadPanel what="The claim" title={claim ? `Claim in ${claim.repo}` : shortId(id)} query={query} value={claim} facts={factsOf} onClose={onClose}>
      {(shown) => (
        <>
          <NameList unit="path" names={shown.paths} />
          <NameList unit="symbol" names={shown.symbols} />
          <DeniedEdits claimId={shown.claim_id} />
          <div>
            <ReleaseClaim claim={shown} onReleased={onClose} />
          </div>
        </>
      )}
    </ReadPanel>
  );
}

const factsOf = (claim: Claim): FactValues => ({
  State: <State tone={STATES[claim.state]}>{claim.state}</State>,
  Mode: <Mode claim={claim} />,
  Holder: <Holder claim={claim} />,
  Reason: claim.reason && <UntrustedText text={claim.reason} />,
  Repository: <UntrustedText text={claim.repo} />,
  Claimed: <Time at={claim.claimed_at} />,
  ...(claim.ended_at === null ? { Expires: <Until at={claim.expires_at} /> } : { Ended: <Time at={claim.ended_at} /> }),
  Claim: <Id id={claim.claim_id} />,
});

/** The maximum number of path patterns in the dialog. */
const LISTED = 8;

/** The button that releases a claim. For people who may not release it, the button is disabled and shows why. */
function ReleaseClaim({ claim, inRow = false, onReleased }: { claim: Claim; inRow?: boolean; onReleased?: () => void }) {
  const { claim_id, paths, symbols, mode, repo, developer, agent_type, expires_at } = claim;
  if (claim.state !== 'live') return null;
  const patterns = patternsIn(claim);
  const what = [paths.length > 0 && counted(paths.length, 'path'), symbols.length > 0 && counted(symbols.length, 'symbol')].filter(Boolean).join(' and ');
  return (
    <ConfirmAction
      button={inRow ? 'Release' : 'Release claim'}
      name={inRow ? `Release ${escapeBidi(shortPatterns(claim))}` : undefined}
      small={inRow}
      needs={claim.own ? 'member' : 'operator'}
      title="Release this claim?"
      act="Release claim"
      keep="Keep"
      action="claims.release"
      input={{ claim_id }}
      failed="The claim was not released."
      command={`claims release ${claim_id}`}
      onDone={onReleased}
    >
      <p>
        <UntrustedText text={workerOf(developer, agent_type)} /> holds {what} of <UntrustedText text={repo} /> ({mode}); the claim expires{' '}
        <Until at={expires_at} />. After the release any agent can claim these files. The holder is not notified: if it is still editing, two agents may change
        the same file.
      </p>
      <ul className="mono grid gap-0.5">
        {patterns.slice(0, LISTED).map((pattern) => (
          <li key={pattern}>
            <UntrustedText text={pattern} brief />
          </li>
        ))}
        {patterns.length > LISTED && <li className="text-muted">and {patterns.length - LISTED} more</li>}
      </ul>
    </ConfirmAction>
  );
}

/** How many of the newest events about the claim are searched for denied edits. */
const LOOKED_AT = 200;
const SHOWN = 10;

/** Lists the edits that were denied because of the claim, newest first. */
function DeniedEdits({ claimId }: { claimId: string }) {
  const { data } = useRead('events.list', { subject: claimId, before: Number.MAX_SAFE_INTEGER, limit: LOOKED_AT });
  const denied = (data?.items ?? []).toReversed().flatMap((event) => {
    const edit = deniedEditIn(event);
    return edit ? [{ event, edit }] : [];
  });
  if (denied.length === 0) return null;
  return (
    <Section title="Denied edits" about="newest first">
      <PanelList items={denied.slice(0, SHOWN)} empty={null}>
        {({ event: { seq, time, actor }, edit }) => (
          <li key={seq} className="grid gap-0.5 px-3 py-2">
            <code className="wrap-anywhere">
              <UntrustedText text={edit.path} />
            </code>
            <p className="flex flex-wrap gap-x-2 text-muted">
              <ActorName actor={actor} />
              <UntrustedText text={writerOf(edit)} />
              <Time at={time} />
              <Link to="/activity" search={{ event: seq }} className="link ml-auto">
                Event {seq}
              </Link>
            </p>
          </li>
        )}
      </PanelList>
      {denied.length > SHOWN && (
        <Link to="/activity" search={{ subject: claimId }} className="link">
          All events of this claim
        </Link>
      )}
    </Section>
  );
}
