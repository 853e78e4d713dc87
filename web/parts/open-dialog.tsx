import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { flushSync } from 'react-dom';
import { SharedValue, useSharedValue } from '../shared-value.ts';

type DialogContent = (close: () => void) => ReactNode;

const shownDialog = new SharedValue<DialogContent | undefined>(undefined);

let home: HTMLElement | null | undefined;

/** Shows a dialog that outlives the row or panel that asked for it: an event may take those off the page meanwhile. */
export function openDialog(content: DialogContent): void {
  home = document.activeElement?.closest<HTMLElement>('[data-home]');
  shownDialog.set(content);
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
  const content = useSharedValue(shownDialog);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has other dialogs
  useEffect(() => () => shownDialog.set(undefined), [pathname]);
  return content?.(() => shownDialog.set(undefined));
}
