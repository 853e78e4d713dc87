import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import type { ActionInput, Price } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Field, TextField } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useAct } from '../../queries.ts';

type Figures = NonNullable<ActionInput<'prices.set'>['price']>;

/** Each figure, what people call it, and its option of the command. */
const FIGURES: readonly { key: keyof Figures; label: string; option: string; needed?: true }[] = [
  { key: 'input', label: 'Input', option: 'input', needed: true },
  { key: 'cached_input', label: 'Cached input', option: 'cached' },
  { key: 'cache_write', label: 'Cache write', option: 'cache-write' },
  { key: 'cache_write_1h', label: 'Cache write, 1 hour', option: 'cache-write-1h' },
  { key: 'output', label: 'Output', option: 'output', needed: true },
];

/** What was done, and how it is taken back. */
export interface Done {
  readonly words: string;
  readonly inverse: string;
  readonly model: string;
  readonly before: Figures | null;
}

/** `model`: where the form was opened for one, with what is known of it. */
export function PriceForm({ model: opened, known, onDone }: { model: string; known: readonly Price[]; onDone: (done: Done) => void }) {
  const [model, setModel] = useState(opened);
  const [typed, setTyped] = useState<Partial<Record<keyof Figures, string>>>(() => figuresOf(known.find((price) => price.model === opened)));
  const set = useAct('prices.set');
  const first = useRef<HTMLInputElement>(null);
  // Whoever chose a model goes on with its figures.
  useEffect(() => {
    if (opened !== '') first.current?.focus();
  }, [opened]);
  const given = FIGURES.flatMap(({ key, option }) => (typed[key]?.trim() ? [{ key, option, text: typed[key]?.trim() ?? '' }] : []));
  const ready = model.trim() !== '' && FIGURES.every(({ key, needed }) => !needed || typed[key]?.trim());
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const name = model.trim().toLowerCase();
    const before = known.find((price) => price.model === name && price.set_at !== null);
    const price = Object.fromEntries(given.map(({ key, text }) => [key, Number(text)])) as unknown as Figures;
    const again = before ? asSent(before) : null;
    set.mutate(
      { model: name, price },
      {
        onSuccess: () => {
          onDone({ words: `The price of ${name} is set.`, inverse: again ? 'Set the one before' : 'Take it back', model: name, before: again });
          setModel('');
          setTyped({});
        },
      },
    );
  };
  return (
    <form onSubmit={submit} className="grid gap-3">
      <TextField label="Model" hint="without its release date; with * at the end, all that begin so" mono first most={81} value={model} onChange={setModel} />
      <div className="grid grid-cols-2 items-end gap-3 sm:grid-cols-5">
        {FIGURES.map(({ key, label, needed }) => (
          <Field key={key} label={needed ? label : `${label}, if any`}>
            {(id) => (
              <input
                id={id}
                ref={key === 'input' ? first : undefined}
                className="field"
                type="number"
                inputMode="decimal"
                min="0"
                max="10000"
                step="any"
                required={needed}
                value={typed[key] ?? ''}
                onChange={({ target }) => setTyped({ ...typed, [key]: target.value })}
              />
            )}
          </Field>
        ))}
      </div>
      {set.error && <Problem what="The price was not set." error={set.error} />}
      {ready && <CliCommand words="prices set" text={model.trim()} options={Object.fromEntries(given.map(({ option, text }) => [option, text]))} />}
      <div className="flex justify-end">
        <ActButton type="submit" look="primary" needs="operator" pending={set.isPending} disabled={!ready}>
          Set price
        </ActButton>
      </div>
    </form>
  );
}

const figuresOf = (price: Price | undefined): Partial<Record<keyof Figures, string>> =>
  price ? Object.fromEntries(Object.entries(asSent(price)).map(([key, value]) => [key, value?.toString()])) : {};

export const asSent = ({ input, cached_input, cache_write, cache_write_1h, output }: Price): Figures => ({
  input,
  output,
  cached_input: cached_input ?? undefined,
  cache_write: cache_write ?? undefined,
  cache_write_1h: cache_write_1h ?? undefined,
});
