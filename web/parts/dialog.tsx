import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { SharedValue, useSharedValue } from '../shared-value.ts';
import { escapeBidi } from './values.tsx';

interface DialogProps {
  title: string;
  wide?: boolean | undefined;
  /** If true, the dialog opens near the top of the window, so that it does not move when its content grows. */
  top?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/**
 * A modal dialog, using the browser's own element. It keeps the focus inside, closes on Escape and then restores the focus. The element with `data-first`
 * gets the focus first.
 */
export function Dialog({ title, wide = false, top = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // This is a layout effect, because a dialog can restore the focus only while it is still in the page.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return undefined;
    const close = openModal(element);
    element.querySelector<HTMLElement>('[data-first]')?.focus();
    return close;
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      className={`m-auto ${top ? 'mt-[10vh]' : ''} ${wide ? 'w-[min(44rem,calc(100vw-2rem))]' : 'w-[min(28rem,calc(100vw-2rem))]'} rounded-lg border border-line bg-base p-5 text-text backdrop:bg-[#0009]`}
    >
      <h2 id={heading} className="wrap-anywhere">
        {escapeBidi(title)}
      </h2>
      {children}
    </dialog>
  );
}

const openModals = new SharedValue<readonly HTMLDialogElement[]>([]);

/** Shows the dialog over everything else, and returns the function that closes it. */
export function openModal(dialog: HTMLDialogElement): () => void {
  dialog.showModal();
  openModals.set([...openModals.get(), dialog]);
  return () => {
    dialog.close();
    openModals.set(openModals.get().filter((each) => each !== dialog));
  };
}

/** Returns the topmost modal dialog. Nothing outside it can be clicked. */
export const useTopModal = (): HTMLDialogElement | undefined => useSharedValue(openModals).at(-1);

type DialogContent = (close: () => void) => ReactNode;

const shownDialog = new SharedValue<DialogContent | undefined>(undefined);

let home: HTMLElement | null | undefined;

/** Shows a dialog that stays open even if the row or panel that opened it disappears, as can happen after an event. */
export function openDialog(content: DialogContent): void {
  home = document.activeElement?.closest<HTMLElement>('[data-home]');
  shownDialog.set(content);
}

/**
 * Closes a dialog after its action has succeeded. The element that opened the dialog may have disappeared. The focus therefore moves to the `data-home`
 * element that was around it, or else to the first one on the page.
 */
export function closeDone(close: () => void): void {
  flushSync(close);
  (home?.isConnected ? home : document.querySelector<HTMLElement>('[data-home]'))?.focus();
}

export function DialogHost() {
  const content = useSharedValue(shownDialog);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: close the dialog when another page is opened
  useEffect(() => () => shownDialog.set(undefined), [pathname]);
  return content?.(() => shownDialog.set(undefined));
}
