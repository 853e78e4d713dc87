import { escapeBidi } from './values.tsx';

interface FilterProps<T extends string> {
  label: string;
  /** The label of the choice that switches the filter off. */
  otherwise: string;
  choices: readonly (readonly [T, string])[];
  chosen: T | undefined;
  onChoose: (choice: T | undefined) => void;
}

/** A menu to choose one value to filter by. The page stores the choice in its address. */
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

/** A filter that is either on or off. */
export function CheckFilter({ label, checked, onChange }: { label: string; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label className="flex items-center gap-2 text-muted pointer-coarse:min-h-11">
      <input type="checkbox" checked={checked} onChange={({ target }) => onChange(target.checked)} />
      {label}
    </label>
  );
}
