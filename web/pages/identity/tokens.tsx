import { Link } from '@tanstack/react-router';
import { type SubmitEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { Token } from '../../api.ts';
import { ActButton, ConfirmAction, FormDialog } from '../../parts/actions.tsx';
import { AsCommand, CliCommand } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { openDialog } from '../../parts/dialog.tsx';
import type { FactValues } from '../../parts/facts.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { CheckFilter } from '../../parts/filter.tsx';
import { Problem, Section, State, type Tone } from '../../parts/layout.tsx';
import { SearchLink, usePageSearch } from '../../parts/page-search.tsx';
import { useFewThenMany } from '../../parts/paging.ts';
import { ReadPanel } from '../../parts/side-panel.tsx';
import type { Column } from '../../parts/table.tsx';
import { counted, escapeBidi, Id, Time, Until, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';
import { AGENTS, type AgentType, carrierOf } from './agent.ts';
import { NewToken } from './new-token.tsx';

/** The page with the tokens of the signed-in developer. Operators can also list all other tokens. */
export function Tokens() {
  const [{ create, token: opened, whose }, change] = usePageSearch('/settings/tokens');
  const isOperator = useRead('identity.me', {}).data?.operator ?? false;
  const all = whose === 'all' && isOperator;
  const columns = useMemo(() => tokenColumns(all), [all]);
  const live = useFewThenMany('tokens.list', { own: !all, status: 'live' }, 1_000);
  const ended = useFewThenMany('tokens.list', { own: !all, status: 'ended' }, 1_000);
  return (
    <Section title="Tokens" home>
      <title>Tokens · Covenant</title>
      <p className="text-muted">Agents and scripts authenticate with a token. Create one for each, so that you can revoke them separately.</p>
      <CreateToken focus={create ?? false} />
      {isOperator && (
        <CheckFilter
          label="All developers"
          checked={all}
          onChange={(checked) => void change({ whose: checked ? 'all' : undefined, token: undefined, create: undefined })}
        />
      )}
      <div className="panel">
        <DataList noun="tokens" label="Live tokens" list={live} columns={columns} rowKey={idOf} />
      </div>
      {(ended.total ?? 0) > 0 && (
        <details>
          <summary className="cursor-pointer py-1 text-muted">{counted(ended.total ?? 0, 'revoked or expired token')}</summary>
          <div className="panel mt-2">
            <DataList noun="tokens" label="Revoked and expired tokens" list={ended} columns={columns} rowKey={idOf} />
          </div>
        </details>
      )}
      {opened && <TokenPanel key={opened} id={opened} onClose={() => void change({ token: undefined, create: undefined })} />}
    </Section>
  );
}

const idOf = ({ token_id }: Token): string => token_id;
const TONES: Record<Token['status'], Tone> = { live: 'good', expired: 'quiet', revoked: 'quiet' };
const Status = ({ token: { status } }: { token: Token }) => <State tone={TONES[status]}>{status}</State>;
const Owner = ({ token: { developer, kind } }: { token: Token }) => <UntrustedText text={developer ?? kind} brief />;
export const LastUsed = ({ at }: { at: number | null }) => (at === null ? 'never' : <Time at={at} />);

const OWNER: Column<Token> = { label: 'Developer', width: 'sm:w-[14%]', cell: (token) => <Owner token={token} /> };

const tokenColumns = (all: boolean): readonly Column<Token>[] => [
  {
    label: 'Label',
    role: 'title',
    cell: ({ token_id, label }) => (
      <SearchLink set={{ token: token_id, create: undefined }}>
        <UntrustedText text={label} brief />
      </SearchLink>
    ),
  },
  ...(all ? [OWNER] : []),
  { label: 'For', width: 'sm:w-[14%]', cell: carrierOf },
  { label: 'Id', width: 'sm:w-[16%]', cell: ({ token_id }) => <Id id={token_id} /> },
  { label: 'Last used', role: 'meta', width: 'sm:w-[15%]', prefix: 'last used:', cell: ({ last_used_at }) => <LastUsed at={last_used_at} /> },
  { label: 'Status', role: 'state', width: 'sm:w-24', cell: (token) => <Status token={token} /> },
  { label: 'Actions', role: 'end', width: 'sm:w-28', cell: (token) => token.status === 'live' && <RevokeToken token={token} inRow /> },
];

function TokenPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useRead('tokens.list', { token_id: id });
  const token = query.data?.items[0];
  return (
    <ReadPanel
      what="The token"
      title={token?.label ?? 'Token'}
      query={query}
      value={token}
      missing={<p className="text-muted">Token not found, or it belongs to another developer.</p>}
      facts={factsOf}
      onClose={onClose}
    >
      {(shown) =>
        shown.status === 'live' && (
          <div className="grid justify-items-start gap-3">
            <div className="flex flex-wrap gap-2">
              {isRotatable(shown) && <ActButton onClick={() => openDialog((close) => <RotateToken token={shown} onClose={close} />)}>Rotate token</ActButton>}
              <RevokeToken token={shown} />
            </div>
            <CliCommand words={`tokens revoke ${shown.token_id}`} />
          </div>
        )
      }
    </ReadPanel>
  );
}

const factsOf = (token: Token): FactValues => ({
  Status: <Status token={token} />,
  Id: <Id id={token.token_id} />,
  For: carrierOf(token),
  Developer: <Owner token={token} />,
  Instance: token.instance_id !== null && (
    <Link to="/reviews/$instance" params={{ instance: token.instance_id }} className="link">
      {token.instance_id}
    </Link>
  ),
  Created: <Time at={token.created_at} />,
  'Last used': <LastUsed at={token.last_used_at} />,
  Expires: token.expires_at === null ? 'never' : <Until at={token.expires_at} />,
});

function RevokeToken({ token, inRow = false }: { token: Token; inRow?: boolean }) {
  const { token_id, label, kind } = token;
  return (
    <ConfirmAction
      button={inRow ? 'Revoke' : 'Revoke token'}
      name={inRow ? `Revoke ${escapeBidi(label)}` : undefined}
      title={`Revoke ${label}?`}
      act="Revoke token"
      action="tokens.revoke"
      input={{ token_id }}
      failed="The token was not revoked."
      command={`tokens revoke ${token_id}`}
    >
      <p>
        {kind === 'web'
          ? 'The browser is signed out with its next request. It may be the browser that you are using now.'
          : `The next call ${token.agent === null ? '' : `of ${carrierOf(token)} `}with this token is refused.`}{' '}
        This cannot be undone.
      </p>
    </ConfirmAction>
  );
}

const isRotatable = ({ kind, status }: Token): boolean => status === 'live' && (kind === 'agent' || kind === 'developer');

function RotateToken({ token: { token_id, label }, onClose }: { token: Token; onClose: () => void }) {
  const rotate = useAct('tokens.rotate');
  const rotated = rotate.data && (
    <>
      <NewToken label={label} token={rotate.data.token} onDone={onClose} />
      <p className="text-muted">
        The old secret expires <Until at={rotate.data.old_ends_at} />.
      </p>
    </>
  );
  return (
    <FormDialog
      title={`Rotate ${label}?`}
      wide
      submit="Rotate token"
      cautious
      mutation={rotate}
      outcome={rotated}
      failed="The token was not rotated."
      onSubmit={() => rotate.mutate({ token_id })}
      onClose={onClose}
    >
      <p>The token gets a new secret and keeps its id, claims, sessions and grants. The old secret works for 24 more hours.</p>
      <CliCommand words={`tokens rotate ${token_id}`} />
    </FormDialog>
  );
}

/** `focus` is true if the person opened the page to create a token. The first field then has the focus. */
function CreateToken({ focus }: { focus: boolean }) {
  const me = useRead('identity.me', {}).data;
  const create = useAct('tokens.create');
  const [label, setLabel] = useState('');
  const [agent, setAgent] = useState<AgentType | ''>('');
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (focus) form.current?.querySelector('input')?.focus();
  }, [focus]);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    create.mutate({ label: label.trim() || undefined, agent: agent || undefined }, { onSuccess: () => setLabel('') });
  };
  return (
    <>
      <form ref={form} onSubmit={submit} aria-label="Create token" className="grid items-end gap-3 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_auto]">
        <TextField label="Label" hint="optional" max={100} value={label} onChange={setLabel} />
        <SelectField label="Agent" hint="optional" choices={[['', 'Any program'], ...AGENTS]} value={agent} onChange={setAgent} />
        <ActButton type="submit" look="primary" pending={create.isPending}>
          Create token
        </ActButton>
      </form>
      <AsCommand>
        <CliCommand words="tokens create" options={{ developer: me?.developer ?? undefined, agent, label: label.trim() }} />
      </AsCommand>
      {create.error && <Problem what="The token was not created." error={create.error} />}
      {create.data && <NewToken key={create.data.token_id} label={create.data.label} token={create.data.token} onDone={create.reset} />}
    </>
  );
}
