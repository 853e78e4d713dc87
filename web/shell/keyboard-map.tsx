import { Dialog } from '../parts/dialog.tsx';
import { prefer, usePreferences } from '../preferences.ts';
import { PAGES } from './pages.ts';

const KEYS = [
  ['Ctrl K or ⌘ K', 'Search pages, ids, agents and actions'],
  ['?', 'This map'],
  ['/', 'Go to the filter of the list'],
  ['j, k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Space', 'Look at the row, and stay in the list'],
  ['n', 'Next thing that waits on you'],
  ['.', 'Show what is new'],
  ['y', 'Copy the id'],
  ['Escape', 'Close what is open'],
] as const;

export function KeyboardMap({ onClose }: { onClose: () => void }) {
  const { keys } = usePreferences();
  return (
    <Dialog title="Keyboard map" wide onClose={onClose}>
      <div className="mt-3 grid gap-x-8 gap-y-4 sm:grid-cols-2">
        <List rows={KEYS} />
        <List rows={PAGES.map(({ key, label }) => [`g ${key}`, label] as const)} />
      </div>
      <label className="mt-4 flex items-center gap-2">
        <input type="checkbox" checked={keys} onChange={({ target }) => prefer({ keys: target.checked })} />
        Single keys do this (Ctrl K always does)
      </label>
      <div className="mt-4 flex justify-end">
        <button type="button" className="button" data-first onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function List({ rows }: { rows: readonly (readonly [string, string])[] }) {
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] content-start gap-x-3 gap-y-1.5">
      {rows.map(([keys, what]) => (
        <div key={keys} className="contents">
          <dt>
            <kbd className="mono rounded border border-line bg-surface px-1.5 py-0.5">{keys}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}
