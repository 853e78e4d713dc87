import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';
import { copyText } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { isTyping } from '../parts/field.tsx';
import { useToast } from '../parts/toast.tsx';
import { prefer, preferences, usePreferences } from '../preferences.ts';
import { focusFilter, idAtHand, moveRow, nextWaiting, peek, showNew } from './list-keys.ts';
import { PAGES } from './pages.ts';
import { Palette } from './palette.tsx';

type Overlay = 'palette' | 'help';
const OPEN_OVERLAY = 'covenant:openOverlay';

/** Opens an overlay from any component. */
export const openOverlay = (what: Overlay): boolean => dispatchEvent(new CustomEvent<Overlay>(OPEN_OVERLAY, { detail: what }));

/** How long a person may wait before they press the second key after g. */
const SEQUENCE_MS = 1_500;

export function Keyboard() {
  const [open, setOpen] = useState<Overlay>();
  const [leading, setLeading] = useState(0);
  const navigate = useNavigate();
  const say = useToast();

  const handleKey = useEffectEvent((event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      setOpen('palette');
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !preferences().keys) return;
    if (document.querySelector('dialog:modal')) return;
    if (runShortcut(event.key)) event.preventDefault();
  });

  const copyId = (): boolean => {
    const id = idAtHand();
    if (id) void copyText(id).then((isCopied) => say(isCopied ? `Copied ${id}.` : `This browser does not allow copying. Select the id instead: ${id}`));
    return id !== undefined;
  };

  /**
   * Shortcuts with a single key, which work outside of fields and dialogs. They never change anything on the server. They return false if the key has no
   * effect on this page.
   */
  const singleKeys: Readonly<Record<string, () => unknown>> = {
    g: () => setLeading(performance.now() + SEQUENCE_MS),
    '?': () => setOpen('help'),
    '/': focusFilter,
    j: () => moveRow(1),
    k: () => moveRow(-1),
    ' ': peek,
    n: () => nextWaiting(() => navigate({ to: '/' })),
    '.': showNew,
    y: copyId,
  };

  const runShortcut = (key: string): boolean => {
    if (performance.now() < leading) {
      setLeading(0);
      const page = PAGES.find((each) => each.key === key);
      if (page) void navigate({ to: page.to });
      return page !== undefined;
    }
    const act = singleKeys[key];
    return act !== undefined && act() !== false;
  };

  const openFromEvent = useEffectEvent((event: Event) => setOpen((event as CustomEvent<Overlay>).detail));
  useEffect(() => {
    const onPress = (event: KeyboardEvent) => handleKey(event);
    const onOpen = (event: Event) => openFromEvent(event);
    addEventListener('keydown', onPress);
    addEventListener(OPEN_OVERLAY, onOpen);
    return () => {
      removeEventListener('keydown', onPress);
      removeEventListener(OPEN_OVERLAY, onOpen);
    };
  }, []);

  if (open === 'palette') return <Palette onClose={() => setOpen(undefined)} onHelp={() => setOpen('help')} />;
  if (open === 'help') return <KeyboardMap onClose={() => setOpen(undefined)} />;
  return null;
}

const KEYS = [
  ['Ctrl K or ⌘ K', 'Search pages, ids, agents and actions'],
  ['?', 'Show keyboard shortcuts'],
  ['/', 'Focus the filter'],
  ['j, k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Space', 'Preview the row'],
  ['n', 'Next item waiting on you'],
  ['.', 'Show new rows'],
  ['y', 'Copy the id'],
  ['Escape', 'Close the panel or dialog'],
] as const;

function KeyboardMap({ onClose }: { onClose: () => void }) {
  const { keys } = usePreferences();
  return (
    <Dialog title="Keyboard shortcuts" wide onClose={onClose}>
      <div className="mt-3 grid gap-x-8 gap-y-4 sm:grid-cols-2">
        <List rows={KEYS} />
        <List rows={PAGES.map(({ key, label }) => [`g ${key}`, label] as const)} />
      </div>
      <label className="mt-4 flex items-center gap-2">
        <input type="checkbox" checked={keys} onChange={({ target }) => prefer({ keys: target.checked })} />
        Enable single-key shortcuts (Ctrl K always works)
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
