import { useMemo, useState } from 'react';
import type { Developer } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { Section } from '../../parts/section.tsx';
import { CARD_STATE, CARD_TITLE, type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { AddDeveloper } from './add-developer.tsx';
import { Sessions } from './sessions.tsx';
import { SigninLink } from './signin-link.tsx';
import { Visibility } from './visibility.tsx';

const isNamed = ({ developer_id }: Developer): boolean => developer_id.startsWith('dev_');

const columnsFor = (me: string | null | undefined, invite: (name: string) => void): readonly Column<Developer>[] => [
  {
    label: 'Name',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: ({ name, developer_id }) => (
      <>
        <Said text={name} />
        {developer_id === me && <span className="text-muted"> (you)</span>}
      </>
    ),
  },
  {
    label: 'Role',
    wide: 'sm:w-32',
    card: `max-sm:order-2 ${CARD_STATE}`,
    cell: ({ role }) => <State tone={role === 'admin' ? 'live' : 'quiet'}>{role}</State>,
  },
  {
    label: 'Shown',
    wide: 'sm:w-32',
    card: "max-sm:order-3 max-sm:before:content-['shown_']",
    cell: ({ visibility }) => (visibility === 'private' ? 'as @private' : 'by name'),
  },
  {
    label: 'Joined',
    wide: 'sm:w-40',
    card: "text-muted max-sm:order-3 max-sm:before:content-['joined:_']",
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    label: 'Actions',
    wide: 'sm:w-32',
    card: 'max-sm:order-4 max-sm:ml-auto',
    // Whoever is private has no name here that a link could be made for.
    cell: (developer) =>
      isNamed(developer) && (
        <ActButton needs="operator" aria-label={`Sign-in link for ${developer.name}`} onClick={() => invite(developer.name)}>
          Sign-in link
        </ActButton>
      ),
  },
];

/** Who is in the workspace. */
export function Members() {
  const me = useRead('identity.me', {}).data;
  const { data, error, refetch } = useRead('developers.list', {});
  const [inviting, setInviting] = useState<string>();
  const [adding, setAdding] = useState(false);
  const columns = useMemo(() => columnsFor(me?.developer_id, setInviting), [me?.developer_id]);
  return (
    <div className="grid gap-8">
      <title>Members · Covenant</title>
      <Section title="Members" about={data && counted(data.items.length, 'developer')}>
        <div className="flex flex-wrap items-center gap-3">
          <p className="min-w-0 flex-1 basis-72 text-muted">
            An admin, the first developer of the workspace, has operator rights here. Members see everything and act for themselves.
          </p>
          <ActButton needs="operator" onClick={() => setAdding(true)}>
            Add a developer
          </ActButton>
        </div>
        <div className="panel">
          {error && <Problem what="The members could not be read." error={error} onRetry={() => void refetch()} />}
          {!data && !error && <TableSkeleton />}
          {data && (
            <Table
              label="Members"
              columns={columns}
              rows={data.items}
              rowKey={({ developer_id, created_at }) => (developer_id.startsWith('dev_') ? developer_id : created_at)}
            />
          )}
        </div>
      </Section>
      <Visibility />
      <Sessions />
      {inviting !== undefined && <SigninLink key={inviting} developer={inviting} onClose={() => setInviting(undefined)} />}
      {adding && <AddDeveloper onClose={() => setAdding(false)} />}
    </div>
  );
}
