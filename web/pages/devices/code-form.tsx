import { type SubmitEvent, useState } from 'react';
import { Field } from '../../parts/field.tsx';

const LETTERS = 8;
const lettersIn = (text: string): string => text.toUpperCase().replace(/[^A-Z]/g, '');

/** For whoever has the code on another screen. */
export function CodeForm({ onCode }: { onCode: (code: string) => void }) {
  const [text, setText] = useState('');
  const letters = lettersIn(text);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onCode(`${letters.slice(0, LETTERS / 2)}-${letters.slice(LETTERS / 2)}`);
  };
  return (
    <form onSubmit={submit} aria-label="Code of the device" className="grid max-w-sm gap-3">
      <p className="text-muted">A machine that is being set up shows a code of eight letters. It serves once, within ten minutes.</p>
      <Field label="Code" hint="such as BQPX-FGQR">
        {(id) => (
          <input
            id={id}
            className="field mono h-11 text-section tracking-widest uppercase"
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            maxLength={20}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </Field>
      <button type="submit" className="button button-primary justify-self-start" disabled={letters.length !== LETTERS}>
        Look at it
      </button>
    </form>
  );
}
