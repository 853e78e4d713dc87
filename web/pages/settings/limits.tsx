import { type SubmitEvent, useState } from 'react';
import type { ActionInput, Setting } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { AsCommand, CliCommand } from '../../parts/command.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem, Section } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useToast } from '../../parts/toast.tsx';
import { Time, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';

/** The settings for limits of reviews and for switching hooks on and off. */
export function Limits() {
  const query = useRead('settings.list', {});
  const { data } = query;
  const numbers = data?.items.filter(({ key }) => key.startsWith('review.'));
  const switches = data?.items.filter((setting) => setting.switch !== null);
  return (
    <div className="grid max-w-3xl gap-8">
      <title>Limits · Covenant</title>
      <Section title="Review limits">
        <p className="text-muted">The limits apply to the whole workspace from the next call on, and also to reviews that are running.</p>
        <Loaded what="The limits" query={query} />
        <div className="grid gap-3">
          {numbers?.map((setting) => (
            <Limit key={setting.key} setting={setting} />
          ))}
        </div>
      </Section>
      {switches && switches.length > 0 && (
        <Section title="Hooks">
          <p className="text-muted">Hooks ask this server before an agent writes a file. Each machine uses the last setting that it received.</p>
          {switches.map((setting) => (
            <Switch key={setting.key} setting={setting} />
          ))}
        </Section>
      )}
    </div>
  );
}

/** Changes a setting. The confirmation has a button to undo the change. */
function useSetting({ key, title, value, is_default }: Setting, words: (value: number | null) => string) {
  const set = useAct('settings.set');
  const say = useToast();
  const back = { key, value: is_default ? null : value };
  const change = (next: ActionInput<'settings.set'>['value'], onDone?: () => void): void =>
    set.mutate(
      { key, value: next },
      {
        onSuccess: (after) => {
          onDone?.();
          say(`${title}: ${words(after.value)}.`, { label: `Back to ${words(value)}`, act: () => set.mutate(back) });
        },
      },
    );
  return { set, change };
}

/** The field for a numeric setting. A setting without a default can be left empty. */
export function Limit({ setting }: { setting: Setting }) {
  const { key, title, value, min, max, is_default } = setting;
  const { set, change } = useSetting(setting, shown);
  // Until the person types something, the field shows the current value, even if that changes.
  const [draft, setDraft] = useState<string>();
  const text = draft ?? String(value ?? '');
  const typed = text.trim() === '' ? Number.NaN : Number(text);
  const fits = Number.isFinite(typed) && typed >= min && typed <= max;
  const forget = (): void => setDraft(undefined);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (fits && typed !== value) change(typed, forget);
  };
  return (
    <form onSubmit={submit} aria-label={title} className="panel grid gap-2 p-3">
      <Field label={title} hint={`${min.toLocaleString()} to ${max.toLocaleString()}`}>
        {(id) => (
          <div className="flex flex-wrap items-center gap-2">
            <input id={id} type="number" step="any" min={min} max={max} className="field w-32" value={text} onChange={({ target }) => setDraft(target.value)} />
            <ActButton type="submit" look="primary" needs="operator" pending={set.isPending} disabled={!fits || typed === value} aria-label={`Save: ${title}`}>
              Save
            </ActButton>
            {!is_default && (
              <ActButton
                needs="operator"
                pending={set.isPending}
                onClick={() => change(null, forget)}
                aria-label={`Reset to ${shown(setting.default)}: ${title}`}
              >
                Reset to {shown(setting.default)}
              </ActButton>
            )}
            <Origin setting={setting} />
          </div>
        )}
      </Field>
      {set.error && <Problem what="The limit was not changed." error={set.error} />}
      <AsCommand>
        <CliCommand words={fits || value !== null ? `settings set ${key} ${fits ? typed : value}` : `settings set ${key} default`} />
      </AsCommand>
    </form>
  );
}

const shown = (value: number | null): string => value?.toLocaleString() ?? 'not set';

/** A setting that can be on or off, with an explanation of both choices. */
function Switch({ setting }: { setting: Setting }) {
  const { key, title, value, switch: positions } = setting;
  const { set, change } = useSetting(setting, (each) => (each === 1 ? 'on' : 'off'));
  const isOn = value === 1;
  const next = isOn ? 'off' : 'on';
  return (
    <section aria-label={title} className="panel grid gap-2 p-3">
      <div className="flex flex-wrap items-center gap-3">
        <ActButton role="switch" aria-checked={isOn} aria-label={title} needs="operator" pending={set.isPending} onClick={() => change(next)}>
          <span aria-hidden="true" className={`flex h-4 w-7 rounded-full border border-control p-0.5 ${isOn ? 'justify-end bg-live' : ''}`}>
            <span className={`size-2.5 rounded-full ${isOn ? 'bg-on-live' : 'bg-muted'}`} />
          </span>
          {isOn ? 'On' : 'Off'}
        </ActButton>
        <h3 className="min-w-0 font-medium">{title}</h3>
        <Origin setting={setting} />
      </div>
      <dl className="grid gap-x-3 gap-y-1 sm:grid-cols-[2.5rem_minmax(0,1fr)]">
        <dt className={isOn ? 'font-medium' : 'text-muted'}>On</dt>
        <dd className={isOn ? '' : 'text-muted'}>{positions?.on}</dd>
        <dt className={isOn ? 'text-muted' : 'font-medium'}>Off</dt>
        <dd className={isOn ? 'text-muted' : ''}>{positions?.off}</dd>
      </dl>
      {set.error && <Problem what="The setting was not changed." error={set.error} />}
      <AsCommand>
        <CliCommand words={`settings set ${key} ${next}`} />
      </AsCommand>
    </section>
  );
}

/** Shows whether a value is the default, or who has set it and when. */
function Origin({ setting: { is_default, updated_at, updated_by } }: { setting: Setting }) {
  const developers = useRead('developers.list', {}).data?.items ?? [];
  if (is_default || updated_at === null) return <span className="text-muted">default</span>;
  const who = developers.find(({ developer_id }) => updated_by === `developer:${developer_id}`)?.name ?? updated_by ?? 'unknown';
  return (
    <span className="text-muted">
      set by <UntrustedText text={who} />, <Time at={updated_at} />
    </span>
  );
}
