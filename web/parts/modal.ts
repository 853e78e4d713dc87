import { SharedValue, useSharedValue } from '../shared-value.ts';

const openModals = new SharedValue<readonly HTMLDialogElement[]>([]);

/** Shows it over everything else; what is answered closes it. */
export function openModal(dialog: HTMLDialogElement): () => void {
  dialog.showModal();
  openModals.set([...openModals.get(), dialog]);
  return () => {
    dialog.close();
    openModals.set(openModals.get().filter((each) => each !== dialog));
  };
}

/** What lies over everything: whatever is not inside it can neither be seen nor clicked. */
export const useTopModal = (): HTMLDialogElement | undefined => useSharedValue(openModals).at(-1);
