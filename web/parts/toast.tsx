import * as Radix from '@radix-ui/react-toast';
import { createContext, type ReactNode, use, useCallback, useState } from 'react';
import { createPortal } from 'react-dom';
import { DISCONNECTED_REASON, useDisconnected } from '../live/live-journal.tsx';
import { useTopModal } from './dialog.tsx';
import { Icon } from './icon.tsx';

interface Toast {
  readonly id: number;
  readonly words: string;
  /** The action that undoes the change. */
  readonly inverse?: { readonly label: string; readonly act: () => void };
}

type Say = (words: string, inverse?: Toast['inverse']) => void;

const Context = createContext<Say>(() => {});

/**
 * Returns a function that confirms a change with a toast, which can have a button to undo the change. Toasts are not used for errors, which are shown where
 * they happen.
 */
export const useToast = (): Say => use(Context);

export function Toasts({ children }: { children: ReactNode }) {
  const over = useTopModal();
  const disconnected = useDisconnected();
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const say = useCallback<Say>((words, inverse) => setToasts((all) => [...all, { id: Math.random(), words, ...(inverse && { inverse }) }]), []);
  const drop = (id: number): void => setToasts((all) => all.filter((toast) => toast.id !== id));
  return (
    <Context value={say}>
      <Radix.Provider duration={8_000} label="Notice" swipeDirection="down">
        {children}
        {toasts.map(({ id, words, inverse }) => (
          <Radix.Root
            key={id}
            onOpenChange={(open) => open || drop(id)}
            className="flex items-center gap-2 rounded-lg border border-line bg-base py-1 pr-1 pl-3 text-text shadow-xl"
          >
            <span aria-hidden="true" className="text-good">
              ✓
            </span>
            <Radix.Description className="min-w-0 flex-1 wrap-anywhere">{words}</Radix.Description>
            {inverse && (
              <Radix.Action
                altText={inverse.label}
                className="button"
                disabled={disconnected}
                title={disconnected ? DISCONNECTED_REASON : undefined}
                onClick={inverse.act}
              >
                {inverse.label}
              </Radix.Action>
            )}
            <Radix.Close className="button border-transparent px-2" aria-label="Close">
              <Icon name="close" />
            </Radix.Close>
          </Radix.Root>
        ))}
        {createPortal(
          <Radix.Viewport className="fixed right-4 bottom-4 z-50 grid w-[min(26rem,calc(100vw-2rem))] gap-2 outline-none max-sm:bottom-18" />,
          over ?? document.body,
        )}
      </Radix.Provider>
    </Context>
  );
}
