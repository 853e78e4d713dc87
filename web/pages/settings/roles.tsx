import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { Result, RoleAction } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Section } from '../../parts/section.tsx';
import { CARD_STATE, CARD_TITLE, type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';

const route = getRouteApi('/settings/roles');

const ROLES: Record<RoleAction['access'], { name: string; who: string }> = {
  member: { name: 'Member', who: 'Whoever is signed in to the dashboard.' },
  operator: { name: 'Operator rights', who: 'The first developer of the workspace, signed in, and the operator.' },
  machine: { name: 'Run agents', who: 'Operator rights, and the permission of the server’s operator to run agents on its machine.' },
  server: { name: 'Operator', who: "Whoever holds the home's credentials: the covenant command on the server." },
  token: { name: 'Token', who: "A token that acts for a developer: an agent's hooks, and git's." },
};
const ACCESSES = Object.keys(ROLES) as RoleAction['access'][];

const DOES: Record<RoleAction['does'], Tone> = { reads: 'quiet', changes: 'live', destroys: 'bad' };

const columnsFor = (isOperator: boolean, runsAgents: boolean): readonly Column<RoleAction>[] => [
  { label: 'What', card: `max-sm:order-1 ${CARD_TITLE}`, cell: ({ title }) => title },
  { label: 'Action', wide: 'sm:w-[28%]', card: 'max-sm:order-3 max-sm:w-full', cell: ({ name }) => <code>{name}</code> },
  { label: 'Does', wide: 'sm:w-28', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ does }) => <State tone={DOES[does]}>{does}</State> },
  { label: 'Needs', wide: 'sm:w-32', card: 'text-muted max-sm:order-4', cell: ({ access }) => ROLES[access].name },
  {
    label: 'You',
    wide: 'sm:w-24',
    card: "max-sm:order-5 max-sm:before:content-['you_']",
    cell: ({ access }) => (access === 'member' || (access === 'operator' && isOperator) || (access === 'machine' && runsAgents) ? 'may' : 'may not'),
  },
];

/** Who may what, as the server's own contracts say it. */
export function Roles() {
  const { needs } = route.useSearch();
  const navigate = useNavigate();
  const me = useRead('identity.me', {}).data;
  const { data, error, refetch } = useRead('roles.list', {});
  const shown = data?.actions.filter(({ access }) => needs === undefined || access === needs) ?? [];
  return (
    <div className="grid gap-8">
      <title>Roles · Covenant</title>
      {error && <Problem what="The roles could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {data && (
        <>
          <Tools toolsets={data.toolsets} />
          <Section title="What people do" about={counted(shown.length, 'action')}>
            <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[8rem_minmax(0,1fr)]">
              {ACCESSES.map((access) => (
                <div key={access} className="contents">
                  <dt className="font-medium">{ROLES[access].name}</dt>
                  <dd className="text-muted">{ROLES[access].who}</dd>
                </div>
              ))}
            </dl>
            <Filter
              label="Needs"
              otherwise="Any role"
              choices={ACCESSES.map((access) => [access, ROLES[access].name] as const)}
              chosen={needs}
              onChoose={(choice) => void navigate({ to: '/settings/roles', search: choice ? { needs: choice } : {}, replace: true, resetScroll: false })}
            />
            <div className="panel">
              <Table
                key={needs}
                label="Actions and the role that each needs"
                columns={columnsFor(me?.operator ?? false, me?.run_agents ?? false)}
                rows={shown}
                rowKey={({ name }) => name}
              />
            </div>
          </Section>
        </>
      )}
    </div>
  );
}

type Toolset = Result<'roles.list'>['toolsets'][number];
type Kind = Toolset['granted_to'][number];

const holds =
  (kind: Kind) =>
  ({ granted_to }: Toolset) =>
    granted_to.includes(kind) ? '✓ yes' : '— no';

const held = (kind: Kind, label: string): Column<Toolset> => ({
  label,
  wide: 'sm:w-24',
  card: `max-sm:order-3 max-sm:w-[calc(50%-0.75rem)] ${KIND_NAMES[kind]}`,
  cell: holds(kind),
});

/** A card has no heads: each cell says itself what it is of. */
const KIND_NAMES: Record<Kind, string> = {
  developer: "max-sm:before:content-['developer:_']",
  agent: "max-sm:before:content-['agent:_']",
  instance: "max-sm:before:content-['instance:_']",
  operator: "max-sm:before:content-['operator:_']",
};

const TOOLSET_COLUMNS: readonly Column<Toolset>[] = [
  { label: 'Toolset', card: `max-sm:order-1 ${CARD_TITLE}`, cell: ({ toolset }) => toolset },
  { label: 'Tools', wide: 'sm:w-24', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ tools }) => counted(tools.length, 'tool') },
  held('developer', 'Developer'),
  held('agent', 'Agent'),
  held('instance', 'Instance'),
  held('operator', 'Operator'),
];

function Tools({ toolsets }: { toolsets: readonly Toolset[] }) {
  return (
    <Section title="What tokens call from the start">
      <p className="text-muted">
        Every new token gets these as ordinary grants, which can be revoked. Anything else is granted one by one:{' '}
        <Link to="/tools" className="link">
          who may call a tool
        </Link>
        .
      </p>
      <div className="panel">
        <Table label="Toolsets and the tokens that may call them" columns={TOOLSET_COLUMNS} rows={toolsets} rowKey={({ toolset }) => toolset} />
      </div>
    </Section>
  );
}
