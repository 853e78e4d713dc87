import { escapeBidi } from './values.tsx';

interface FilterProps<T extends string> {
  label: string;
  /** The label of "no choice". */
  otherwise: string;
  choices: readonly (readonly [T, string])[];
  chosen: T | undefined;
  onChoose: (choice: T | undefined) => void;
}

/** A choice of one value. The page keeps it in its address. */
export function Filter<T extends string>({ label, otherwise, choices, chosen, onChoose }: FilterProps<T>) {
  return (
    <label className="flex items-center gap-2 text-muted">
      {label}
      <select
        data-filter
        className="field w-auto text-text"
        value={chosen ?? ''}
        onChange={({ target }) => onChoose(choices.find(([choice]) => choice === target.value)?.[0])}
      >
        <option value="">{otherwise}</option>
        {choices.map(([choice, name]) => (
          <option key={choice} value={choice}>
            {escapeBidi(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A filter that is on or off. */
export function CheckFilter({ label, checked, onChange }: { label: string; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label className="flex items-center gap-2 text-muted pointer-coarse:min-h-11">
      <input type="checkbox" checked={checked} onChange={({ target }) => onChange(target.checked)} />
      {label}
    </label>
  );
}
