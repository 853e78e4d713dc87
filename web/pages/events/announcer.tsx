import { useEffect, useEffectEvent, useState } from 'react';
import { useJournal } from '../../live/context.tsx';

const EVERY_MS = 5_000;

/** Tells a screen reader how much is new, at most every few seconds. */
export function Announcer() {
  const newest = useJournal().state.events.at(-1)?.seq ?? 0;
  const [told, setTold] = useState({ upTo: newest, words: '' });
  const tell = useEffectEvent(() => {
    if (told.upTo === newest) return;
    const count = newest - told.upTo;
    // The first read is the page itself, not news.
    setTold({ upTo: newest, words: told.upTo === 0 ? '' : `${count} new ${count === 1 ? 'event' : 'events'}` });
  });
  useEffect(() => {
    const timer = setInterval(tell, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p role="status" className="sr-only">
      {told.words}
    </p>
  );
}
