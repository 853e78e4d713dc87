import { useSyncExternalStore } from 'react';

let opened: readonly HTMLDialogElement[] = [];
const listeners = new Set<() => void>();

function become(next: readonly HTMLDialogElement[]): void {
  opened = next;
  for (const listener of listeners) listener();
}

/** Shows it over everything else; what is answered closes it. */
export function openModal(dialog: HTMLDialogElement): () => void {
  dialog.showModal();
  become([...opened, dialog]);
  return () => {
    dialog.close();
    become(opened.filter((each) => each !== dialog));
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What lies over everything: whatever is not inside it can neither be seen nor clicked. */
export const useTopModal = (): HTMLDialogElement | undefined => useSyncExternalStore(subscribe, () => opened.at(-1));
