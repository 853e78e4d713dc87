import { useState } from 'react';
import type { Price } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Loaded } from '../../parts/data-list.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
import { escapeBidi, UntrustedText } from '../../parts/said.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useAct, useRead } from '../../queries.ts';
import { asSent, type Done, PriceForm } from './price-form.tsx';

/** What the workspace has set stands before what is built in. */
const isOwn = ({ set_at }: Price): boolean => set_at !== null;

/** What a million tokens cost, and where that is not known yet. */
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
        <p>Dollars for a million tokens, in this workspace. A price holds for what is reported from now on; what was counted before keeps its cost.</p>
        {unpriced.length > 0 && (
          <div className="flex flex-wrap items-center gap-2">
            <span className="text-muted">Reported without a known price:</span>
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
            <summary className="cursor-pointer text-muted">{builtIn.length} built-in prices</summary>
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
          {prompt_up_to !== null && <span className="block text-label text-muted">for prompts of up to {prompt_up_to.toLocaleString()} tokens</span>}
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
      <Table label={label} columns={columns} rows={prices} rowKey={({ model, prompt_up_to }) => `${model} ${prompt_up_to}`} />
    </div>
  );
}

/** At once: what is said of it sets it again. */
function TakeBack({ price, onDone }: { price: Price; onDone: (done: Done) => void }) {
  const set = useAct('prices.set');
  const { model } = price;
  const takeBack = async (): Promise<void> => {
    // The row is gone once it is read again, and with it whatever would be called back here.
    const done = await set.mutateAsync({ model, price: null }).catch(() => undefined);
    if (done) onDone({ words: `The price of ${model} was taken back.`, inverse: 'Set it again', model, before: asSent(price) });
  };
  return (
    <>
      {set.error && <Problem what="The price was not changed." error={set.error} />}
      <ActButton
        needs="operator"
        className="min-h-6 px-2 pointer-coarse:min-h-11"
        pending={set.isPending}
        aria-label={`Take back the price of ${escapeBidi(model)}`}
        onClick={() => void takeBack()}
      >
        Take back
      </ActButton>
    </>
  );
}

/** A toast would lie under the dialog. */
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
