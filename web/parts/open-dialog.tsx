import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';

type DialogContent = (close: () => void) => ReactNode;

let shown: DialogContent | undefined;
const listeners = new Set<() => void>();

function become(next: DialogContent | undefined): void {
  shown = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows a dialog that outlives the row or panel that asked for it: an event may take those off the page meanwhile. */
export const openDialog = (content: DialogContent): void => become(content);

/** Closes the dialog of something that was done. What it was opened from may have gone: the focus goes to the page's `data-home`, if it has one. */
export function closeDone(close: () => void): void {
  flushSync(close);
  document.querySelector<HTMLElement>('[data-home]')?.focus();
}

export function DialogHost() {
  const content = useSyncExternalStore(subscribe, () => shown);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has other dialogs
  useEffect(() => () => become(undefined), [pathname]);
  return content?.(() => become(undefined));
}
