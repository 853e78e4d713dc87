import { useEffect, useRef } from 'react';
import { CopyButton } from '../../parts/copy.tsx';
import { Notice } from '../../parts/layout.tsx';
import { escapeBidi, UntrustedText } from '../../parts/values.tsx';

/** Shows a new token once. The value exists only in this element and is stored nowhere else on the page. */
export function NewToken({ label, token, onDone }: { label: string; token: string; onDone: () => void }) {
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.focus(), []);
  return (
    <section ref={section} tabIndex={-1} aria-label={`New token ${escapeBidi(label)}`}>
      <Notice tone="good">
        <p>
          <strong className="font-semibold">
            <UntrustedText text={label} />
          </strong>{' '}
          was created. Copy it now: it is not shown again.
        </p>
        <div className="mt-2 flex flex-wrap items-center gap-2 text-text">
          <code className="min-w-0 flex-[1_1_20rem] rounded-md border border-line bg-base px-2 py-1.5 select-all">{token}</code>
          <CopyButton text={token} label="Copy token" />
          <button type="button" className="button" onClick={onDone}>
            Done
          </button>
        </div>
      </Notice>
    </section>
  );
}
