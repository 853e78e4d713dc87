import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import type { ActionInput, Price } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, TextField } from '../../parts/field.tsx';
import { Notice, Problem } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { counted, escapeBidi, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';

/** Whether the workspace has set this price itself. Such a price overrides the built-in one. */
const isOwn = ({ set_at }: Price): boolean => set_at !== null;

/** The dialog with the prices of all models per million tokens, and with the models whose price is unknown. */
export function Prices({ days, onClose }: { days: number; onClose: () => void }) {
  const prices = useRead('prices.list', {});
  const unpriced = useRead('usage.list', { days, by: ['model'] }).data?.items.filter((row) => row.unpriced > 0 && row.model !== null) ?? [];
  const [chosen, setChosen] = useState('');
  const [done, setDone] = useState<Done>();
  const own = prices.data?.items.filter(isOwn) ?? [];
  const builtIn = prices.data?.items.filter((price) => !isOwn(price)) ?? [];
  return (
    <Dialog title="Prices" wide onClose={onClose}>
      <div className="mt-3 grid gap-4">
        <p>US dollars per million tokens, for this workspace. A new price applies to future reports. Earlier reports keep their cost.</p>
        {unpriced.length > 0 && (
          <div className="flex flex-wrap items-center gap-2">
            <span className="text-muted">Models without a known price:</span>
            {unpriced.map(({ model }) => (
              <button key={model} type="button" className="button max-w-full whitespace-normal" onClick={() => setChosen(model ?? '')}>
                <UntrustedText text={model ?? ''} brief />
              </button>
            ))}
          </div>
        )}
        <PriceForm key={chosen} model={chosen} known={prices.data?.items ?? []} onDone={setDone} />
        {done && <DoneNotice {...done} onUndone={() => setDone(undefined)} />}
        <Loaded what="The prices" query={prices} />
        <PriceTable label="Set in this workspace" prices={own} onChoose={setChosen} onDone={setDone} />
        {prices.data && (
          <details>
            <summary className="cursor-pointer text-muted">{counted(builtIn.length, 'built-in price')}</summary>
            <PriceTable label="Built-in prices" prices={builtIn} onChoose={setChosen} onDone={setDone} />
          </details>
        )}
        <div className="flex justify-end">
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
    </Dialog>
  );
}

const cellOf = (price: number | null): string => (price === null ? '—' : price.toLocaleString('en-US', { maximumFractionDigits: 6 }));

interface PriceTableProps {
  label: string;
  prices: readonly Price[];
  onChoose: (model: string) => void;
  onDone: (done: Done) => void;
}

function PriceTable({ label, prices, onChoose, onDone }: PriceTableProps) {
  if (prices.length === 0) return null;
  const columns: readonly Column<Price>[] = [
    {
      label: 'Model',
      role: 'title',
      cell: ({ model, prompt_up_to }) => (
        <>
          <code>{model}</code>
          {prompt_up_to !== null && <span className="block text-label text-muted">prompts up to {prompt_up_to.toLocaleString()} tokens</span>}
        </>
      ),
    },
    { label: 'Input', prefix: 'input', width: 'sm:w-18', cell: ({ input }) => cellOf(input) },
    { label: 'Cached', prefix: 'cached', width: 'sm:w-18', cell: ({ cached_input }) => cellOf(cached_input) },
    { label: 'Output', prefix: 'output', width: 'sm:w-18', cell: ({ output }) => cellOf(output) },
    {
      label: 'Change',
      role: 'end',
      width: 'sm:w-26',
      cell: (price) =>
        isOwn(price) ? (
          <TakeBack price={price} onDone={onDone} />
        ) : (
          <button type="button" className="link" aria-label={`Set another price for ${escapeBidi(price.model)}`} onClick={() => onChoose(price.model)}>
            Change
          </button>
        ),
    },
  ];
  return (
    <div className="grid gap-1">
      <h3 className="text-muted">{label}</h3>
      <Table whole label={label} columns={columns} rows={prices} rowKey={({ model, prompt_up_to }) => `${model} ${prompt_up_to}`} />
    </div>
  );
}

/** Removes a price that the workspace has set. This asks for no confirmation, because the message afterwards has a button to restore the price. */
function TakeBack({ price, onDone }: { price: Price; onDone: (done: Done) => void }) {
  const set = useAct('prices.set');
  const { model } = price;
  const takeBack = async (): Promise<void> => {
    // The promise is used instead of onSuccess, because this row disappears when the list is loaded again.
    const done = await set.mutateAsync({ model, price: null }).catch(() => undefined);
    if (done) onDone({ words: `Removed the price of ${model}.`, inverse: 'Undo', model, before: asSent(price) });
  };
  return (
    <>
      {set.error && <Problem what="The price was not changed." error={set.error} />}
      <ActButton
        needs="operator"
        className="min-h-6 px-2 pointer-coarse:min-h-11"
        pending={set.isPending}
        aria-label={`Remove the price of ${escapeBidi(model)}`}
        onClick={() => void takeBack()}
      >
        Remove
      </ActButton>
    </>
  );
}

/** Confirms a change inside the dialog, because the dialog would cover a toast. */
function DoneNotice({ words, inverse, model, before, onUndone }: Done & { onUndone: () => void }) {
  const set = useAct('prices.set');
  return (
    <Notice tone="good" role="status">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="min-w-0">{words}</p>
        <ActButton needs="operator" className="text-text" pending={set.isPending} onClick={() => set.mutate({ model, price: before }, { onSuccess: onUndone })}>
          {inverse}
        </ActButton>
      </div>
      {set.error && <Problem what="The price was not changed." error={set.error} />}
    </Notice>
  );
}

type Figures = NonNullable<ActionInput<'prices.set'>['price']>;

/** The figures of a price, with their labels and command line options. */
const FIGURES: readonly { key: keyof Figures; label: string; option: string; needed?: true }[] = [
  { key: 'input', label: 'Input', option: 'input', needed: true },
  { key: 'cached_input', label: 'Cached input', option: 'cached' },
  { key: 'cache_write', label: 'Cache write', option: 'cache-write' },
  { key: 'cache_write_1h', label: 'Cache write, 1 hour', option: 'cache-write-1h' },
  { key: 'output', label: 'Output', option: 'output', needed: true },
];

/** A change to a price, and the earlier price that undoes the change. */
interface Done {
  readonly words: string;
  readonly inverse: string;
  readonly model: string;
  readonly before: Figures | null;
}

/** The form that sets the price of a model. If `model` has a price, its figures are filled in. */
function PriceForm({ model: opened, known, onDone }: { model: string; known: readonly Price[]; onDone: (done: Done) => void }) {
  const [model, setModel] = useState(opened);
  const [typed, setTyped] = useState<Partial<Record<keyof Figures, string>>>(() => figuresOf(known.find((price) => price.model === opened)));
  const set = useAct('prices.set');
  const first = useRef<HTMLInputElement>(null);
  // After the person has selected a model, move the focus to the first figure.
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
          onDone({ words: `Set the price of ${name}.`, inverse: 'Undo', model: name, before: again });
          setModel('');
          setTyped({});
        },
      },
    );
  };
  return (
    <form onSubmit={submit} className="grid gap-3">
      <TextField label="Model" hint="without its release date; end with * for a prefix" mono first max={81} value={model} onChange={setModel} />
      <div className="grid grid-cols-2 items-end gap-3 sm:grid-cols-5">
        {FIGURES.map(({ key, label, needed }) => (
          <Field key={key} label={needed ? label : `${label} (optional)`}>
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

const asSent = ({ input, cached_input, cache_write, cache_write_1h, output }: Price): Figures => ({
  input,
  output,
  cached_input: cached_input ?? undefined,
  cache_write: cache_write ?? undefined,
  cache_write_1h: cache_write_1h ?? undefined,
});
