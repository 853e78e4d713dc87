import { useEffect, useState } from 'react';

export function CopyButton({ text, label = 'Copy', name }: { text: string; label?: string; name?: string }) {
  const { outcome, copy } = useCopy(text);
  const words = outcome === 'idle' ? undefined : WORDS[outcome];
  return (
    <span className="relative inline-flex shrink-0">
      <button type="button" className="button" onClick={copy} aria-label={words ?? name ?? label}>
        {words ?? label}
      </button>
      <CopyOutcome words={words} />
    </span>
  );
}

/** Announces the result to screen readers, because they do not announce that the text of a button has changed. */
export function CopyOutcome({ words = '' }: { words?: string | undefined }) {
  return (
    <span role="status" className="sr-only">
      {words}
    </span>
  );
}

type Outcome = 'idle' | 'copied' | 'failed';
const WORDS: Record<Exclude<Outcome, 'idle'>, string> = { copied: 'Copied', failed: 'Copy failed. Select the text instead' };

export function useCopy(text: string): { outcome: Outcome; copy: () => void } {
  const [outcome, setOutcome] = useState<Outcome>('idle');
  useEffect(() => {
    if (outcome === 'idle') return undefined;
    const timer = setTimeout(() => setOutcome('idle'), 2_000);
    return () => clearTimeout(timer);
  }, [outcome]);
  return { outcome, copy: () => void copyText(text).then((done) => setOutcome(done ? 'copied' : 'failed')) };
}

/**
 * Copies the text and returns whether that worked. Browsers offer the clipboard only on https and localhost. On other pages the old copy event may work. If
 * it does not, the person has to select the text.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByEvent(text);
  }
}

function copyByEvent(text: string): boolean {
  let isCopied = false;
  const fill = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    isCopied = event.clipboardData !== null;
  };
  document.addEventListener('copy', fill, { once: true, capture: true });
  document.execCommand('copy');
  document.removeEventListener('copy', fill, { capture: true });
  return isCopied;
}
