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

/** For screen readers, which do not announce a change inside a button. */
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

/** Browsers offer the clipboard only on https and localhost. Elsewhere the copy event may work; otherwise the person selects the text. */
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
