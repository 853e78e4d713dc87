import { type ReactNode, type SubmitEvent, useState } from 'react';
import { ActButton } from './act-button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { Problem } from './problem.tsx';
import { escapeBidi } from './said.tsx';

interface ConfirmProps {
  title: string;
  /** What it does, in numbers where there are any. */
  children: ReactNode;
  /** The button that does it. */
  act: string;
  keep?: string;
  /** What destroys is confirmed by typing this. */
  typed?: string;
  /** Whether it has all it needs besides. */
  ready?: boolean;
  pending: boolean;
  error: Error | null;
  failed: string;
  onAct: () => void;
  onClose: () => void;
}

/** Asked before what stops somebody's work, or cannot be taken back. */
export function Confirm({ title, children, act, keep = 'Cancel', typed, ready = true, pending, error, failed, onAct, onClose }: ConfirmProps) {
  const [given, setGiven] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onAct();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="mt-3 grid gap-3">
        {children}
        {typed !== undefined && (
          <Field label={`Type ${escapeBidi(typed)} to confirm`}>
            {(id) => (
              <input
                id={id}
                className="field mono"
                data-first
                autoComplete="off"
                spellCheck={false}
                value={given}
                onChange={({ target }) => setGiven(target.value)}
              />
            )}
          </Field>
        )}
        {error && <Problem what={failed} error={error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="button" data-first={typed === undefined || undefined} onClick={onClose}>
            {keep}
          </button>
          <ActButton
            type="submit"
            look="bad"
            pending={pending}
            disabled={!ready || (typed !== undefined && ![typed, escapeBidi(typed)].includes(given.trim()))}
          >
            {act}
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
