import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { openModal } from './modal.ts';
import { escapeBidi } from './said.tsx';

interface DialogProps {
  title: string;
  wide?: boolean | undefined;
  /** Stands near the top, where what grows below it moves nothing. */
  top?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** The browser's own modal: it keeps the focus inside, closes on Escape and gives the focus back. `data-first` is focused first. */
export function Dialog({ title, wide = false, top = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before it leaves the page: a dialog that is gone gives no focus back.
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
