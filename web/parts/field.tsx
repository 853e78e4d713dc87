import { type ReactNode, useId } from 'react';

interface FieldProps {
  label: string;
  hint?: string | undefined;
}

/** A control with its name above it. */
export function Field({ label, hint, children }: FieldProps & { children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="grid content-start gap-1">
      <label htmlFor={id} className="text-label text-muted wrap-anywhere">
        {label}
        {hint && ` (${hint})`}
      </label>
      {children(id)}
    </div>
  );
}

interface TextProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  /** The maximum length that the contract accepts. Undefined if there is no limit. */
  max?: number | undefined;
  /** If true, the field has the focus when its dialog opens. */
  first?: boolean;
  required?: boolean;
  /** For code. The font is monospaced, and there is no spell checking. */
  mono?: boolean;
}

interface TextFieldProps extends TextProps {
  inputMode?: 'numeric';
  placeholder?: string;
  /** Suggestions for the value, each with or without an explanation. */
  choices?: readonly (string | readonly [string, string])[];
  className?: string;
}

/** A text field of one line. */
export function TextField({ label, hint, value, onChange, max, first, required, mono, inputMode, placeholder, choices, className = '' }: TextFieldProps) {
  const list = useId();
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <>
          <input
            id={id}
            className={`field ${mono ? 'mono' : ''} ${className}`}
            data-first={first || undefined}
            required={required}
            maxLength={max}
            inputMode={inputMode}
            autoComplete="off"
            spellCheck={mono || choices ? false : undefined}
            placeholder={placeholder}
            list={choices && list}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
          {choices && (
            <datalist id={list}>
              {choices.map((choice) => {
                const [option, name] = typeof choice === 'string' ? [choice] : choice;
                return (
                  <option key={option} value={option}>
                    {name}
                  </option>
                );
              })}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

/** A text field of several lines. */
export function TextArea({ label, hint, value, onChange, max, rows = 3, first, required, mono }: TextProps & { rows?: number }) {
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <textarea
          id={id}
          className={`field py-1.5 ${mono ? 'mono' : ''}`}
          data-first={first || undefined}
          rows={rows}
          required={required}
          maxLength={max}
          spellCheck={mono ? false : undefined}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}

interface SelectFieldProps<T extends string> extends FieldProps {
  value: T;
  choices: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
  first?: boolean;
}

export function SelectField<T extends string>({ label, hint, value, choices, onChange, first }: SelectFieldProps<T>) {
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <select id={id} className="field" data-first={first || undefined} value={value} onChange={({ target }) => onChange(target.value as T)}>
          {choices.map(([choice, name]) => (
            <option key={choice} value={choice}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface ChoiceProps {
  /** The group that a radio button belongs to. Without a group, the choice is a checkbox. */
  group?: string;
  checked: boolean;
  label: string;
  meaning: ReactNode;
  onChoose: (on: boolean) => void;
}

/** A radio button or a checkbox with an explanation. */
export function Choice({ group, checked, label, meaning, onChoose }: ChoiceProps) {
  return (
    <label className="flex items-start gap-2 pointer-coarse:min-h-11">
      <input type={group ? 'radio' : 'checkbox'} name={group} className="mt-1" checked={checked} onChange={({ target }) => onChoose(target.checked)} />
      <span>
        <span className="font-medium">{label}</span>
        <span className="block text-muted">{meaning}</span>
      </span>
    </label>
  );
}

/** Whether the person is typing into a field or terminal. Shortcuts must then ignore the key. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select, [role=textbox], .xterm *'));
