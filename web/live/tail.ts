import { useEffect, useState } from 'react';

const PAUSE_PX = 80;

/** New rows push the old ones down: who has scrolled to read must not lose their place. */
export function usePaused(): boolean {
  const [paused, setPaused] = useState(() => scrollY > PAUSE_PX);
  useEffect(() => {
    const look = () => setPaused(scrollY > PAUSE_PX);
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  return paused;
}

/** The value as it was when `frozen` became true. */
export function useFrozen<T>(value: T, frozen: boolean): T {
  const [kept, setKept] = useState(value);
  if (!frozen && kept !== value) setKept(value);
  return frozen ? kept : value;
}
