import { Link } from '@tanstack/react-router';
import type { ActionResult, RoleAction } from '../../api.ts';
import { Filter } from '../../parts/filter.tsx';
import { Section, State, type Tone } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { counted } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';

const ROLES: Record<RoleAction['access'], { name: string; who: string }> = {
  member: { name: 'Member', who: 'Everyone who is signed in to the dashboard.' },
  operator: { name: 'Operator rights', who: 'The first developer of the workspace, and the operator.' },
  machine: { name: 'Run agents', who: 'Operator rights plus the permission to run agents on the server’s machine.' },
  server: { name: 'Operator', who: 'The covenant command on the server’s machine.' },
  token: { name: 'Token', who: 'A token of a developer, used by hooks of agents and git.' },
};
const ACCESSES = Object.keys(ROLES) as RoleAction['access'][];

const DOES: Record<RoleAction['does'], Tone> = { reads: 'quiet', changes: 'live', destroys: 'bad' };

const columnsFor = (isOperator: boolean, runsAgents: boolean): readonly Column<RoleAction>[] => [
  { label: 'Action', role: 'title', cell: ({ title }) => title },
  { label: 'Name', role: 'wide', width: 'sm:w-[28%]', cell: ({ name }) => <code>{name}</code> },
  { label: 'Effect', role: 'state', width: 'sm:w-28', cell: ({ does }) => <State tone={DOES[does]}>{does}</State> },
  { label: 'Needs', role: 'meta', width: 'sm:w-32', cell: ({ access }) => ROLES[access].name },
  {
    label: 'You',
    width: 'sm:w-24',
    prefix: 'you',
    cell: ({ access }) => (access === 'member' || (access === 'operator' && isOperator) || (access === 'machine' && runsAgents) ? 'allowed' : 'not allowed'),
  },
];

/** Shows which role may do what. The table is built from the server's contracts. */
export function Roles() {
  const [{ needs }, change] = usePageSearch('/settings/roles');
  const me = useRead('identity.me', {}).data;
  const query = useRead('roles.list', {});
  const { data } = query;
  const shown = data?.actions.filter(({ access }) => needs === undefined || access === needs) ?? [];
  return (
    <div className="grid gap-8">
      <title>Roles · Covenant</title>
      <Loaded what="The roles" query={query} />
      {data && (
        <>
          <Tools toolsets={data.toolsets} />
          <Section title="Actions of people" about={counted(shown.length, 'action')}>
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
              onChoose={(choice) => void change({ needs: choice }, { replace: true })}
            />
            <div className="panel">
              <Table
                key={needs}
                label="Actions and required roles"
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

type Toolset = ActionResult<'roles.list'>['toolsets'][number];
type Kind = Toolset['granted_to'][number];

const held = (kind: Kind, label: string): Column<Toolset> => ({
  label,
  width: 'sm:w-24',
  prefix: `${kind}:`,
  cell: ({ granted_to }) => (granted_to.includes(kind) ? '✓ yes' : '— no'),
});

const TOOLSET_COLUMNS: readonly Column<Toolset>[] = [
  { label: 'Toolset', role: 'title', cell: ({ toolset }) => toolset },
  { label: 'Tools', role: 'state', width: 'sm:w-24', cell: ({ tools }) => counted(tools.length, 'tool') },
  held('developer', 'Developer'),
  held('agent', 'Agent'),
  held('instance', 'Instance'),
  held('operator', 'Operator'),
];

function Tools({ toolsets }: { toolsets: readonly Toolset[] }) {
  return (
    <Section title="Default grants of tokens">
      <p className="text-muted">
        Every new token gets these toolsets as grants, which can be revoked. Grant anything else separately:{' '}
        <Link to="/tools" className="link">
          check tool access
        </Link>
        .
      </p>
      <div className="panel">
        <Table label="Toolsets and the tokens that may call them" columns={TOOLSET_COLUMNS} rows={toolsets} rowKey={({ toolset }) => toolset} />
      </div>
    </Section>
  );
}
