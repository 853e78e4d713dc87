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

let home: HTMLElement | null | undefined;

/** Shows a dialog that outlives the row or panel that asked for it: an event may take those off the page meanwhile. */
export function openDialog(content: DialogContent): void {
  home = document.activeElement?.closest<HTMLElement>('[data-home]');
  become(content);
}

/**
 * Closes the dialog of something that was done. What it was opened from may have gone: the focus goes to the `data-home` around it,
 * or else to the page's, if it has one.
 */
export function closeDone(close: () => void): void {
  flushSync(close);
  (home?.isConnected ? home : document.querySelector<HTMLElement>('[data-home]'))?.focus();
}

export function DialogHost() {
  const content = useSyncExternalStore(subscribe, () => shown);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has other dialogs
  useEffect(() => () => become(undefined), [pathname]);
  return content?.(() => become(undefined));
}
