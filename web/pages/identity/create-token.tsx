import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import { DISCONNECTED_REASON, useDisconnected } from '../../live/connection.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useAct, useRead } from '../../queries.ts';
import { AGENTS, agentOf } from './agent.ts';
import { NewToken } from './new-token.tsx';

/** `focus`: whoever came to make one can type at once. */
export function CreateToken({ focus }: { focus: boolean }) {
  const me = useRead('identity.me', {}).data;
  const create = useAct('tokens.create');
  const disconnected = useDisconnected();
  const [label, setLabel] = useState('');
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (focus) first.current?.focus();
  }, [focus]);
  const [agent, setAgent] = useState('');

  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const type = agentOf(agent);
    create.mutate({ ...(label.trim() && { label: label.trim() }), ...(type && { agent: type }) }, { onSuccess: () => setLabel('') });
  };

  return (
    <>
      <form onSubmit={submit} aria-label="Create a token" className="grid items-end gap-3 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_auto]">
        <label className="grid gap-1">
          <span className="text-label text-muted">Label (optional)</span>
          <input ref={first} className="field" value={label} maxLength={100} autoComplete="off" onChange={({ target }) => setLabel(target.value)} />
        </label>
        <label className="grid gap-1">
          <span className="text-label text-muted">Agent (optional)</span>
          <select className="field" value={agent} onChange={({ target }) => setAgent(target.value)}>
            <option value="">Anything</option>
            {AGENTS.map(([type, name]) => (
              <option key={type} value={type}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button
          type="submit"
          className="button button-primary"
          disabled={create.isPending || disconnected}
          title={disconnected ? DISCONNECTED_REASON : undefined}
        >
          Create token
        </button>
      </form>
      <details>
        <summary className="cursor-pointer text-muted">As a command</summary>
        <div className="mt-2">
          <CliCommand words="tokens create" options={{ developer: me?.developer ?? undefined, agent, label: label.trim() }} />
        </div>
      </details>
      {create.error && <Problem what="No token was created." error={create.error} />}
      {create.data && <NewToken key={create.data.token_id} label={create.data.label} token={create.data.token} onDone={create.reset} />}
    </>
  );
}
