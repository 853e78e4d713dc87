import type { Setting } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';
import { Origin } from './origin.tsx';

/** A setting that is on or off, with what each means. */
export function Switch({ setting }: { setting: Setting }) {
  const { key, title, value, is_default, switch: positions } = setting;
  const set = useAct('settings.set');
  const say = useToast();
  const isOn = value === 1;
  const next = isOn ? 'off' : 'on';
  const turn = (): void => {
    const back = { key, value: is_default ? null : value };
    const said = { label: `Back to ${isOn ? 'on' : 'off'}`, act: () => set.mutate(back) };
    set.mutate({ key, value: next }, { onSuccess: () => say(`${title}: ${next}.`, said) });
  };
  return (
    <section aria-label={title} className="panel grid gap-2 p-3">
      <div className="flex flex-wrap items-center gap-3">
        <ActButton role="switch" aria-checked={isOn} aria-label={title} needs="operator" pending={set.isPending} onClick={turn}>
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
      {set.error && <Problem what="The switch was not turned." error={set.error} />}
      <details>
        <summary className="cursor-pointer text-muted">As a command</summary>
        <div className="mt-2">
          <CliCommand words={`settings set ${key} ${next}`} />
        </div>
      </details>
    </section>
  );
}
