import { useSyncExternalStore } from 'react';

/** A value outside of React. Components that use it render again when it changes. */
export class SharedValue<T> {
  #value: T;
  readonly #watchers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  set(value: T): void {
    this.#value = value;
    for (const watcher of this.#watchers) watcher();
  }

  /** Changes some fields of the value. */
  change(part: Partial<T>): void {
    this.set({ ...this.#value, ...part });
  }

  readonly subscribe = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };
}

export const useSharedValue = <T>(shared: SharedValue<T>): T => useSyncExternalStore(shared.subscribe, shared.get);
