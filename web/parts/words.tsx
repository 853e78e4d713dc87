import { Field } from './field.tsx';

interface WordsProps {
  label: string;
  hint?: string;
  value: string;
  onChange: (value: string) => void;
  /** As the contract bounds it; undefined where it does not. */
  most: number | undefined;
  rows?: number;
  /** It has the focus when its dialog opens. */
  first?: boolean;
  required?: boolean;
}

/** Some lines that a person writes. */
export function Words({ label, hint, value, onChange, most, rows = 3, first = false, required = false }: WordsProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(id) => (
        <textarea
          id={id}
          className="field py-1.5"
          data-first={first || undefined}
          rows={rows}
          required={required}
          maxLength={most}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
