import { type ReactNode, useEffect, useEffectEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { wasPeek } from '../shell/list-keys.ts';
import { openModal } from './dialog.tsx';
import { Facts, type FactValues } from './facts.tsx';
import { isTyping } from './field.tsx';
import { Icon } from './icon.tsx';
import { Problem, Scrolled } from './layout.tsx';
import { type ReadResult, TableSkeleton } from './loaded.tsx';
import { UntrustedText } from './values.tsx';

/** On screens of at least this width, the list can still be used beside the panel. */
const BESIDE = '(width >= 64rem)';

/** A panel beside the list. On a small screen it covers the page. Escape closes the panel and returns the focus to the element that opened it. */
export function SidePanel({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const panel = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // The opener is read during rendering. If it were read in an effect, a panel that replaces another panel would get the wrong opener.
  const [opener] = useState(() => document.activeElement);
  useLayoutEffect(() => {
    const element = panel.current;
    if (!element) return undefined;
    const beside = matchMedia(BESIDE).matches;
    const peeked = wasPeek() && beside;
    if (beside) element.show();
    const close = beside ? () => element.close() : openModal(element);
    // show() moves the focus into the panel. After a peek, the focus must return to the list.
    if (peeked && opener instanceof HTMLElement) opener.focus();
    else element.focus();
    return () => {
      // If the person has moved the focus somewhere else in the meantime, do not change it.
      const within = element.contains(document.activeElement) || document.activeElement === document.body;
      close();
      if (within && opener instanceof HTMLElement) opener.focus();
    };
  }, [opener]);
  // Beside the list the panel is not modal, so the browser does not close it on Escape. After a peek, the focus may be in the list when Escape is pressed.
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog:modal')) return;
    if (panel.current?.contains(document.activeElement) || !isTyping(event.target)) onClose();
  });
  useEffect(() => {
    const onPress = (event: KeyboardEvent) => press(event);
    addEventListener('keydown', onPress);
    return () => removeEventListener('keydown', onPress);
  }, []);
  return (
    <dialog
      ref={panel}
      tabIndex={-1}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      className="fixed inset-y-0 right-0 left-auto z-30 m-0 h-dvh max-h-none w-full max-w-none overflow-y-auto border-line bg-base text-text shadow-2xl outline-none lg:w-[40rem] lg:border-l"
    >
      <div className="sticky top-0 z-10 flex items-start gap-3 border-b border-line bg-base px-4 py-3">
        <Scrolled label="Title" className="max-h-[25dvh] min-w-0 flex-1">
          <h2 id={heading} className="wrap-anywhere">
            <UntrustedText text={title} />
          </h2>
        </Scrolled>
        <button type="button" className="button px-2" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div className="grid gap-5 p-4">{children}</div>
    </dialog>
  );
}

/** The properties of a panel that shows one row of a list. */
export interface RowPanelProps<T> {
  /** The id of the row's object, or the end of that id. */
  id: string;
  /** The row in the list, if it is there. It is shown until the panel has loaded the object itself. */
  listed: T | undefined;
  onClose: () => void;
}

interface ReadPanelProps<T> {
  /** The subject of messages, such as "The task". */
  what: string;
  title: string;
  query: ReadResult<unknown>;
  /** The object to show. It comes from the query, or from the list until the query has loaded. */
  value: T | undefined;
  /** Shown if the object does not exist. */
  missing?: ReactNode;
  /** Shown above the facts. */
  head?: (value: T) => ReactNode;
  facts?: (value: T) => FactValues;
  onClose: () => void;
  children?: (value: T) => ReactNode;
}

/** A panel about one object. It shows a skeleton while the object loads, then its facts and actions, or the error. */
export function ReadPanel<T>({ what, title, query: { data, error, refetch }, value, missing, head, facts, onClose, children }: ReadPanelProps<T>) {
  return (
    <SidePanel title={title} onClose={onClose}>
      {error && <Problem what={`${what} could not be loaded${value ? ' again' : ''}.`} error={error} onRetry={() => void refetch()} />}
      {!value && !error && (data === undefined ? <TableSkeleton /> : missing)}
      {value && head?.(value)}
      {value && facts && <Facts facts={facts(value)} />}
      {value && children?.(value)}
    </SidePanel>
  );
}
