import { type SubmitEvent, useState } from 'react';
import type { Setting } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Section } from '../../parts/section.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct, useRead } from '../../queries.ts';
import { Origin } from './origin.tsx';
import { Switch } from './switch.tsx';

/** What ends a review loop, and what holds where this server cannot be asked. */
export function Limits() {
  const { data, error, refetch } = useRead('settings.list', {});
  const numbers = data?.items.filter(({ key }) => key.startsWith('review.'));
  const switches = data?.items.filter((setting) => setting.switch !== null);
  return (
    <div className="grid max-w-3xl gap-8">
      <title>Limits · Covenant</title>
      <Section title="Limits of a review">
        <p className="text-muted">They hold for the whole workspace, from the next call on. Reviews that are under way go by them too.</p>
        {error && <Problem what="The limits could not be read." error={error} onRetry={() => void refetch()} />}
        {!data && !error && <TableSkeleton />}
        <div className="grid gap-3">
          {numbers?.map((setting) => (
            <Limit key={setting.key} setting={setting} />
          ))}
        </div>
      </Section>
      {switches && switches.length > 0 && (
        <Section title="Hooks of agents">
          <p className="text-muted">They ask this server before an agent writes a file. Each machine goes by what it last heard from here.</p>
          {switches.map((setting) => (
            <Switch key={setting.key} setting={setting} />
          ))}
        </Section>
      )}
    </div>
  );
}

/** A number that can be set. One without a default may have no value at all. */
export function Limit({ setting }: { setting: Setting }) {
  const { key, title, value, min, max, is_default } = setting;
  const set = useAct('settings.set');
  const say = useToast();
  // Until something is typed it shows what holds, whoever changes it.
  const [draft, setDraft] = useState<string>();
  const text = draft ?? String(value ?? '');
  const wanted = text.trim() === '' ? Number.NaN : Number(text);
  const fits = Number.isFinite(wanted) && wanted >= min && wanted <= max;
  const change = (next: number | null): void => {
    const back = { key, value: is_default ? null : value };
    set.mutate(
      { key, value: next },
      {
        onSuccess: (after) => {
          setDraft(undefined);
          say(`${title}: ${shown(after.value)}.`, { label: `Back to ${shown(value)}`, act: () => set.mutate(back) });
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
                aria-label={`Use the default, ${shown(setting.default)}: ${title}`}
              >
                Use the default, {shown(setting.default)}
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
          <CliCommand words={fits || value !== null ? `settings set ${key} ${fits ? wanted : value}` : `settings reset ${key}`} />
        </div>
      </details>
    </form>
  );
}

const shown = (value: number | null): string => value?.toLocaleString() ?? 'not set';
