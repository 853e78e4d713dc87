import { ActButton } from '../../parts/act-button.tsx';
import { Filter } from '../../parts/filter.tsx';
import { useRead } from '../../queries.ts';
import type { TaskSearch } from '../../search.ts';
import { STATUSES } from './status.ts';

interface TaskFiltersProps {
  filter: TaskSearch;
  onChange: (filter: TaskSearch) => void;
  onPlan: () => void;
}

/** By status or owner. Whatever is chosen, the list begins with the newest. */
export function TaskFilters({ filter, onChange, onPlan }: TaskFiltersProps) {
  const { status, mine, owner, before: _, ...rest } = filter;
  const owners = useRead('tasks.owners', {}).data?.items.map(({ name }) => [name, name] as const) ?? [];
  // One from the address that owns nothing, or is not known.
  const choices = owner === undefined || owners.some(([name]) => name === owner) ? owners : [[owner, owner] as const, ...owners];
  const chosen = { ...(status && { status }), ...(mine && { mine }), ...(owner && { owner }) };
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Filter
        label="Status"
        otherwise="Open"
        choices={STATUSES}
        chosen={status}
        onChoose={(choice) => onChange({ ...rest, ...chosen, ...(choice ? { status: choice } : { status: undefined }) })}
      />
      {(choices.length > 1 || owner !== undefined) && (
        <Filter
          label="Owner"
          otherwise="Everybody"
          choices={choices}
          chosen={owner}
          onChoose={(choice) => onChange({ ...rest, ...(status && { status }), ...(choice && { owner: choice }) })}
        />
      )}
      <label className="flex items-center gap-2 text-muted pointer-coarse:min-h-11">
        <input
          type="checkbox"
          checked={mine ?? false}
          onChange={({ target }) => onChange({ ...rest, ...(status && { status }), ...(target.checked && { mine: true }) })}
        />
        Only mine
      </label>
      <ActButton look="primary" className="ml-auto" aria-label="Plan work" onClick={onPlan}>
        Plan
      </ActButton>
    </div>
  );
}
