import { call, type Grant } from '../../api.ts';
import { ActButton, ConfirmAction } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import type { FactValues } from '../../parts/facts.tsx';
import { Filter } from '../../parts/filter.tsx';
import { EmptyState, State, type Tone } from '../../parts/layout.tsx';
import { SearchLink, usePageSearch } from '../../parts/page-search.tsx';
import { usePages } from '../../parts/paging.ts';
import { Written } from '../../parts/revealed.tsx';
import { ReadPanel } from '../../parts/side-panel.tsx';
import type { Column } from '../../parts/table.tsx';
import { counted, escapeBidi, Id, Time, Until, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import type { GrantSearch } from '../../search.ts';
import { GrantLink, ScopeOf, scopeKind, usesLeft } from './access.tsx';
import { FilterText } from './filters.tsx';
import { GrantDialog } from './grant-dialog.tsx';
import { ForOperator, useRights, type ViewerRights } from './viewer-rights.tsx';

const STATUSES = [
  ['live', 'Live'],
  ['exhausted', 'Used up'],
  ['expired', 'Expired'],
  ['revoked', 'Revoked'],
] as const;

/** The page that lists all grants, newest first. */
export function Grants() {
  const [{ grant: opened, action, who, status, q }, change] = usePageSearch('/tools/grants');
  const closed = { grant: undefined, action: undefined, who: undefined };
  const close = () => void change(closed);
  const rights = useRights();
  const grants = useGrants({ status, q }, rights);
  if (rights === 'member')
    return (
      <ForOperator title="Grants" rights={rights}>
        <GrantLink />
      </ForOperator>
    );
  return (
    <>
      <title>Grants · Covenant</title>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <FilterText label="Filter by action" value={q} onChange={(text) => void change({ ...closed, q: text })} />
        <Filter label="Status" otherwise="All" choices={STATUSES} chosen={status} onChoose={(choice) => void change({ ...closed, status: choice })} />
        <ActButton needs="operator" look="primary" className="ml-auto" onClick={() => void change({ ...closed, grant: 'new' })}>
          Grant…
        </ActButton>
      </div>
      <section data-home tabIndex={-1} aria-label="Grants" className="panel mt-3 outline-none">
        <DataList
          key={`${status} ${q}`}
          noun="grants"
          label="Grants, newest first"
          list={grants}
          columns={COLUMNS}
          rowKey={({ grant_id }) => grant_id}
          growsAtTop
          moreLabel="Show older grants"
          empty={<NoGrants filtered={status !== undefined || q !== undefined} />}
        />
      </section>
      {opened && opened !== 'new' && <GrantPanel key={opened} id={opened} onClose={close} />}
      {opened === 'new' && <GrantDialog action={action} who={who} onClose={close} />}
    </>
  );
}

function useGrants({ status, q }: Pick<GrantSearch, 'status' | 'q'>, rights: ViewerRights) {
  const filter = { status, text: q };
  return usePages({
    key: ['capabilities.list', filter],
    read: (before: string | undefined, limit, signal) => call('capabilities.list', { ...filter, limit, before }, signal),
    next: ({ items, more }) => (more ? items.at(-1)?.grant_id : undefined),
    sizes: [100, 100],
    enabled: rights === 'operator' || rights === 'elsewhere',
  });
}

function NoGrants({ filtered }: { filtered: boolean }) {
  if (filtered) return <EmptyState all={{ to: '/tools/grants', label: 'Show all grants' }}>No grant matches the filter.</EmptyState>;
  return (
    <EmptyState>
      <p>No grants yet. Without a grant, only tools that need none, such as clock, can be called. To add a grant, run:</p>
      <CliCommand words="capabilities grant tool.call.echo" />
    </EmptyState>
  );
}

const TONES: Record<Grant['status'], Tone> = { live: 'good', exhausted: 'wait', expired: 'quiet', revoked: 'quiet' };
const STATUS_WORDS: Record<Grant['status'], string> = { live: 'live', exhausted: 'used up', expired: 'expired', revoked: 'revoked' };

const Status = ({ grant: { status } }: { grant: Grant }) => <State tone={TONES[status]}>{STATUS_WORDS[status]}</State>;
const usesWords = (grant: Grant): string => usesLeft(grant)?.toLocaleString() ?? 'no limit';
const endOf = ({ scope: { expires_at } }: Grant) => (expires_at === undefined ? 'never' : <Until at={expires_at} />);

const COLUMNS: readonly Column<Grant>[] = [
  {
    label: 'Subject',
    role: 'title',
    width: 'sm:w-[20%]',
    cell: ({ grant_id, subject_name }) => (
      <SearchLink set={{ grant: grant_id }} className="font-medium hover:underline">
        <UntrustedText text={subject_name} brief />
      </SearchLink>
    ),
  },
  { label: 'Action', role: 'wide', cell: ({ action }) => <UntrustedText text={action} brief className="mono" /> },
  {
    label: 'Scope',
    role: 'meta',
    width: 'sm:w-[18%]',
    // On wide screens, uses and expiry are in separate columns.
    cell: (grant) => (
      <>
        <span className="max-lg:hidden">{scopeKind(grant)}</span>
        <span className="lg:hidden">
          <ScopeOf grant={grant} />
        </span>
      </>
    ),
  },
  { label: 'Uses left', role: 'none', from: 'lg', width: 'lg:w-20', cell: usesWords },
  { label: 'Expires', role: 'none', from: 'lg', width: 'lg:w-32', cell: endOf },
  { label: 'By', role: 'meta', width: 'sm:w-[12%]', prefix: 'by', cell: ({ granted_by_name }) => <UntrustedText text={granted_by_name} /> },
  { label: 'Status', role: 'state', width: 'sm:w-24 lg:w-28', cell: (grant) => <Status grant={grant} /> },
  { label: 'Actions', role: 'none', width: 'sm:w-22', cell: (grant) => <RevokeGrant grant={grant} inRow /> },
];

function GrantPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useRead('capabilities.list', { grant_id: id });
  const grant = query.data?.items[0];
  return (
    <ReadPanel what="The grant" title={grant?.action ?? 'Grant'} query={query} value={grant} facts={factsOf} onClose={onClose}>
      {(shown) => (
        <>
          {shown.scope.arguments && (
            <div className="grid gap-1">
              <h3 className="text-muted">Allowed arguments</h3>
              <Written label="Allowed arguments" text={shown.scope.arguments.allow.map((each) => JSON.stringify(each)).join('\n')} />
            </div>
          )}
          <div>
            <RevokeGrant grant={shown} />
          </div>
        </>
      )}
    </ReadPanel>
  );
}

const factsOf = (grant: Grant): FactValues => ({
  Status: <Status grant={grant} />,
  Subject: <UntrustedText text={grant.subject_name} />,
  Action: <UntrustedText text={grant.action} className="mono" />,
  Scope: <ScopeOf grant={grant} />,
  'Uses left': usesWords(grant),
  Expires: endOf(grant),
  'Granted by': <UntrustedText text={grant.granted_by_name} />,
  Granted: <Time at={grant.granted_at} />,
  Grant: <Id id={grant.grant_id} />,
});

function RevokeGrant({ grant, inRow = false }: { grant: Grant; inRow?: boolean }) {
  const { grant_id, action, subject_name } = grant;
  if (grant.status === 'revoked') return null;
  return (
    <ConfirmAction
      button="Revoke"
      name={inRow ? escapeBidi(`Revoke ${action} from ${subject_name}`) : undefined}
      small={inRow}
      needs="operator"
      title="Revoke this grant?"
      act="Revoke grant"
      action="capabilities.revoke"
      input={{ grant_id }}
      failed="The grant was not revoked."
      command={`capabilities revoke ${grant_id}`}
      toast={`Revoked ${action} from ${subject_name}.`}
    >
      <RevokeConsequence grant={grant} />
    </ConfirmAction>
  );
}

const TOOL = /^tool\.call\.(.+)$/;

function RevokeConsequence({ grant }: { grant: Grant }) {
  const tool = TOOL.exec(grant.action)?.[1];
  const day = useRead('tools.show', { name: tool ?? '' }, { enabled: tool !== undefined }).data;
  return (
    <>
      <p>
        <UntrustedText text={grant.action} className="mono" /> to <UntrustedText text={grant.subject_name} />: <ScopeOf grant={grant} />.
      </p>
      <p>
        The subject is refused from the next call on, unless another grant allows the call.{' '}
        {day && `${counted(day.calls_24h, 'call')} of this tool in the last 24 h, by all callers.`}
      </p>
      <p className="text-muted">Revoking cannot be undone, but you can create the same grant again.</p>
    </>
  );
}
