import { useMemo, useState } from 'react';
import type { Developer } from '../../api.ts';
import { DISCONNECTED_REASON, useDisconnected } from '../../live/live-journal.tsx';
import { ActButton, ConfirmAction, FormDialog } from '../../parts/actions.tsx';
import { CliCommand, Command } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { openDialog } from '../../parts/dialog.tsx';
import { Choice, TextField } from '../../parts/field.tsx';
import { Notice, Problem, Section, State } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { wholeList } from '../../parts/paging.ts';
import type { Column } from '../../parts/table.tsx';
import { counted, Time, Until, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';
import { NewToken } from './new-token.tsx';

/** The page with the members of the workspace, and with the viewer's own visibility and sessions. */
export function Members() {
  const me = useRead('identity.me', {}).data;
  const developers = useRead('developers.list', {});
  const columns = useMemo(() => columnsFor(me?.developer_id), [me?.developer_id]);
  return (
    <div className="grid gap-8">
      <title>Members · Covenant</title>
      <Section title="Members" about={developers.data && counted(developers.data.items.length, 'developer')}>
        <div className="flex flex-wrap items-center gap-3">
          <p className="min-w-0 flex-1 basis-72 text-muted">
            The first developer of a workspace is its admin and has operator rights. Members see everything and act for themselves.
          </p>
          <ActButton needs="operator" onClick={() => openDialog((close) => <AddDeveloper onClose={close} />)}>
            Add developer
          </ActButton>
        </div>
        <div className="panel">
          <DataList
            noun="members"
            label="Members"
            list={wholeList(developers)}
            columns={columns}
            rowKey={(developer) => (isNamed(developer) ? developer.developer_id : developer.created_at)}
          />
        </div>
      </Section>
      <Visibility />
      <Sessions />
    </div>
  );
}

const isNamed = ({ developer_id }: Developer): boolean => developer_id.startsWith('dev_');

const columnsFor = (me: string | null | undefined): readonly Column<Developer>[] => [
  {
    label: 'Name',
    role: 'title',
    cell: ({ name, developer_id }) => (
      <>
        <UntrustedText text={name} />
        {developer_id === me && <span className="text-muted"> (you)</span>}
      </>
    ),
  },
  { label: 'Role', role: 'state', width: 'sm:w-32', cell: ({ role }) => <State tone={role === 'admin' ? 'live' : 'quiet'}>{role}</State> },
  { label: 'Shown', width: 'sm:w-32', prefix: 'shown', cell: ({ visibility }) => (visibility === 'private' ? 'as @private' : 'by name') },
  { label: 'Joined', role: 'meta', width: 'sm:w-40', prefix: 'joined:', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    label: 'Actions',
    role: 'end',
    width: 'sm:w-32',
    // A link needs the developer's name, which is hidden for private developers.
    cell: (developer) => isNamed(developer) && <InviteButton developer={developer.name} />,
  },
];

const InviteButton = ({ developer }: { developer: string }) => (
  <ActButton
    needs="operator"
    aria-label={`Create link to sign in as ${developer}`}
    onClick={() => openDialog((close) => <SigninLink developer={developer} onClose={close} />)}
  >
    Create link
  </ActButton>
);

/** Creates a sign-in link. Anyone who opens the link is signed in as that developer, so it is created only on request and shown only in this dialog. */
function SigninLink({ developer, onClose }: { developer: string; onClose: () => void }) {
  const make = useAct('signin.link');
  const what = (
    <p>
      The link signs in one browser as <UntrustedText text={developer} /> and expires after 10 minutes. Send it only to them.
    </p>
  );
  const link = make.data && (
    <>
      {what}
      <Notice tone="good" role="status">
        <p className="mb-2">
          Expires <Until at={make.data.expires_at} />:
        </p>
        <div className="text-text">
          <Command text={`${location.origin}${make.data.path}`} />
        </div>
      </Notice>
      <button type="button" className="button justify-self-end" data-first onClick={onClose}>
        Done
      </button>
    </>
  );
  return (
    <FormDialog
      title={`Sign-in link for ${developer}`}
      wide
      submit="Create link"
      needs="operator"
      cautious
      mutation={make}
      outcome={link}
      failed="The link was not created."
      onSubmit={() => make.mutate({ developer })}
      onClose={onClose}
    >
      {what}
      <CliCommand words="open" options={{ developer }} />
    </FormDialog>
  );
}

/** Adds a developer by creating the developer's first token. */
function AddDeveloper({ onClose }: { onClose: () => void }) {
  const create = useAct('tokens.create');
  const [name, setName] = useState('');
  const developer = name.trim();
  return (
    <FormDialog
      title="Add developer"
      wide
      submit="Add"
      needs="operator"
      ready={developer !== ''}
      mutation={create}
      outcome={create.data && <NewToken label={create.data.label} token={create.data.token} onDone={onClose} />}
      failed="The developer was not added."
      onSubmit={() => create.mutate({ developer })}
      onClose={onClose}
    >
      <p>This creates the developer's first token, which is shown once. To give them access to this dashboard, create a sign-in link afterwards.</p>
      <TextField label="Name" first max={100} value={name} onChange={setName} />
      <CliCommand words="tokens create" options={{ developer: developer || 'NAME' }} />
    </FormDialog>
  );
}

const VISIBILITIES: Record<Developer['visibility'], { label: string; meaning: string }> = {
  team: { label: 'Team', meaning: 'Others in this workspace see your name with your work.' },
  private: { label: 'Private', meaning: 'Others see @private instead of your name. You still see yourself.' },
};

function Visibility() {
  const me = useRead('identity.me', {}).data;
  const developers = useRead('developers.list', {});
  const set = useAct('developers.set_visibility');
  const disconnected = useDisconnected();
  const own = developers.data?.items.find(({ developer_id }) => developer_id === me?.developer_id);
  // Show the new choice immediately. If the server refuses it, the old choice appears again.
  const chosen = set.isPending ? set.variables.visibility : own?.visibility;
  return (
    <Section title="Your visibility">
      <Loaded what="Your visibility" query={developers} />
      {set.error && <Problem what="Your visibility was not changed." error={set.error} />}
      {own && (
        <fieldset aria-label="Your visibility" className="grid gap-2" disabled={disconnected} title={disconnected ? DISCONNECTED_REASON : undefined}>
          {(Object.keys(VISIBILITIES) as Developer['visibility'][]).map((visibility) => (
            <Choice
              key={visibility}
              group="visibility"
              checked={chosen === visibility}
              {...VISIBILITIES[visibility]}
              onChoose={() => set.mutate({ visibility })}
            />
          ))}
        </fieldset>
      )}
    </Section>
  );
}

/** Lets people sign out everywhere, for example after they have lost a machine. */
function Sessions() {
  const me = useRead('identity.me', {}).data;
  return (
    <Section title="Your sessions">
      <p className="text-muted">By default a session ends after 7 days without use, and after 30 days at the latest.</p>
      <div>
        <ConfirmAction
          button="Sign out everywhere"
          look="plain"
          title="Sign out everywhere?"
          act="Sign out everywhere"
          action="developers.sign_out"
          input={{}}
          failed="You were not signed out."
        >
          <p>Signs you out of every browser, including this one, and invalidates your unused sign-in links. Your agents keep their tokens.</p>
          <CliCommand words="developers signout" text={me?.developer ?? undefined} />
        </ConfirmAction>
      </div>
    </Section>
  );
}
