import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';
import { copyText } from '../parts/copy.tsx';
import { useToast } from '../parts/toast.tsx';
import { preferences } from '../preferences.ts';
import { KeyboardMap } from './keyboard-map.tsx';
import { PAGES } from './pages.ts';
import { Palette } from './palette.tsx';
import { focusFilter, idAtHand, isTyping, moveRow, nextWaiting, peek, showNew } from './rows.ts';

type Overlay = 'palette' | 'help';
const OPEN_OVERLAY = 'covenant:openOverlay';

/** Opens it from anywhere. */
export const openOverlay = (what: Overlay): boolean => dispatchEvent(new CustomEvent<Overlay>(OPEN_OVERLAY, { detail: what }));

/** How long after g the letter of a page counts. */
const SEQUENCE_MS = 1_500;

/** What single keys do outside of fields and dialogs. None of them changes anything at the server. */
const SINGLE: Readonly<Record<string, () => boolean>> = {
  j: () => moveRow(1),
  k: () => moveRow(-1),
  '/': focusFilter,
  '.': showNew,
  ' ': peek,
};

export function Keyboard() {
  const [open, setOpen] = useState<Overlay>();
  const [leading, setLeading] = useState(0);
  const navigate = useNavigate();
  const say = useToast();

  const press = useEffectEvent((event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      setOpen('palette');
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !preferences().keys) return;
    if (document.querySelector('dialog:modal')) return;
    if (follow(event.key)) event.preventDefault();
  });

  const copyId = (): boolean => {
    const id = idAtHand();
    if (id) void copyText(id).then((isCopied) => say(isCopied ? `Copied ${id}.` : `This browser does not let the page copy. Select it by hand: ${id}`));
    return id !== undefined;
  };

  const follow = (key: string): boolean => {
    if (performance.now() < leading) {
      setLeading(0);
      const page = PAGES.find((each) => each.key === key);
      if (page) void navigate({ to: page.to });
      return page !== undefined;
    }
    if (key === 'g') setLeading(performance.now() + SEQUENCE_MS);
    else if (key === '?') setOpen('help');
    else if (key === 'y') return copyId();
    else if (key === 'n') nextWaiting(() => navigate({ to: '/' }));
    else return SINGLE[key]?.() ?? false;
    return true;
  };

  const hear = useEffectEvent((event: Event) => setOpen((event as CustomEvent<Overlay>).detail));
  useEffect(() => {
    const onPress = (event: KeyboardEvent) => press(event);
    const onOpen = (event: Event) => hear(event);
    addEventListener('keydown', onPress);
    addEventListener(OPEN_OVERLAY, onOpen);
    return () => {
      removeEventListener('keydown', onPress);
      removeEventListener(OPEN_OVERLAY, onOpen);
    };
  }, []);

  if (open === 'palette') return <Palette onClose={() => setOpen(undefined)} />;
  if (open === 'help') return <KeyboardMap onClose={() => setOpen(undefined)} />;
  return null;
}
