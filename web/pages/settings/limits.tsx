import { type SubmitEvent, useState } from 'react';
import type { Setting } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct, useRead } from '../../queries.ts';

/** What ends a review loop. */
export function Limits() {
  const { data, error, refetch } = useRead('settings.list', {});
  return (
    <div className="grid max-w-3xl gap-3">
      <title>Limits · Covenant</title>
      <h2>Limits of a review</h2>
      <p className="text-muted">They hold for the whole workspace, from the next call on. Reviews that are under way go by them too.</p>
      {error && <Problem what="The limits could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      <div className="grid gap-3">
        {data?.items.map((setting) => (
          <Limit key={setting.key} setting={setting} />
        ))}
      </div>
    </div>
  );
}

function Limit({ setting }: { setting: Setting }) {
  const { key, title, value, min, max, is_default } = setting;
  const set = useAct('settings.set');
  const say = useToast();
  // Until something is typed it shows what holds, whoever changes it.
  const [draft, setDraft] = useState<string>();
  const text = draft ?? String(value);
  const wanted = text.trim() === '' ? Number.NaN : Number(text);
  const fits = Number.isFinite(wanted) && wanted >= min && wanted <= max;
  const change = (next: number | null): void => {
    const back = { key, value: is_default ? null : value };
    set.mutate(
      { key, value: next },
      {
        onSuccess: (after) => {
          setDraft(undefined);
          say(`${title}: ${after.value}.`, { label: `Back to ${value}`, act: () => set.mutate(back) });
        },
      },
    );
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (fits && wanted !== value) change(wanted);
  };
  return (
    <form onSubmit={submit} aria-label={title} className="panel grid gap-2 p-3">
      <Field label={title} hint={`${min.toLocaleString()} to ${max.toLocaleString()}`}>
        {(id) => (
          <div className="flex flex-wrap items-center gap-2">
            <input id={id} type="number" step="any" min={min} max={max} className="field w-32" value={text} onChange={({ target }) => setDraft(target.value)} />
            <ActButton type="submit" look="primary" needs="operator" pending={set.isPending} disabled={!fits || wanted === value} aria-label={`Save: ${title}`}>
              Save
            </ActButton>
            {!is_default && (
              <ActButton
                needs="operator"
                pending={set.isPending}
                onClick={() => change(null)}
                aria-label={`Use the default, ${setting.default.toLocaleString()}: ${title}`}
              >
                Use the default, {setting.default.toLocaleString()}
              </ActButton>
            )}
            <Origin setting={setting} />
          </div>
        )}
      </Field>
      {set.error && <Problem what="The limit was not changed." error={set.error} />}
      <details>
        <summary className="cursor-pointer text-muted">As a command</summary>
        <div className="mt-2">
          <CliCommand words={`settings set ${key} ${fits ? wanted : value}`} />
        </div>
      </details>
    </form>
  );
}

function Origin({ setting: { is_default, updated_at, updated_by } }: { setting: Setting }) {
  const developers = useRead('developers.list', {}).data?.items ?? [];
  if (is_default || updated_at === null) return <span className="text-muted">the default</span>;
  const who = developers.find(({ developer_id }) => updated_by === `developer:${developer_id}`)?.name ?? updated_by ?? 'somebody';
  return (
    <span className="text-muted">
      set by <Said text={who} />, <Time at={updated_at} />
    </span>
  );
}
