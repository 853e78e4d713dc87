import { Revealed } from '../../parts/revealed.tsx';

/** What was written by a program, as it is: it scrolls in a box of its own, which keys reach. */
export function Written({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section tabIndex={0} aria-label={label} className="mono max-h-80 overflow-auto rounded-md bg-surface px-2 py-1.5 whitespace-pre-wrap">
      <Revealed text={text} />
    </section>
  );
}
