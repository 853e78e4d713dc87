import { type SubmitEvent, useState } from 'react';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useAct } from '../../queries.ts';
import { NewToken } from './new-token.tsx';

/** Developers come to be with their first token. */
export function AddDeveloper({ onClose }: { onClose: () => void }) {
  const create = useAct('tokens.create');
  const [name, setName] = useState('');
  const developer = name.trim();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    create.mutate({ developer });
  };
  return (
    <Dialog title="Add a developer" wide onClose={onClose}>
      {create.data ? (
        <div className="mt-3">
          <NewToken label={create.data.label} token={create.data.token} onDone={onClose} />
        </div>
      ) : (
        <form onSubmit={submit} className="mt-3 grid gap-3">
          <p>A developer begins with a token, which is shown once. Afterwards a sign-in link lets them in here.</p>
          <Field label="Name">
            {(id) => (
              <input id={id} className="field" data-first maxLength={100} autoComplete="off" value={name} onChange={({ target }) => setName(target.value)} />
            )}
          </Field>
          <CliCommand words="tokens create" options={{ developer: developer || 'NAME' }} />
          {create.error && <Problem what="Nobody was added." error={create.error} />}
          <div className="flex flex-wrap justify-end gap-2">
            <button type="button" className="button" onClick={onClose}>
              Cancel
            </button>
            <ActButton type="submit" look="primary" needs="operator" pending={create.isPending} disabled={developer === ''}>
              Add
            </ActButton>
          </div>
        </form>
      )}
    </Dialog>
  );
}
