import type { ReactNode } from 'react';

export type Tone = 'quiet' | 'live' | 'good' | 'wait' | 'bad' | 'you';

const LOOK: Record<Tone, { mark: string; colours: string }> = {
  quiet: { mark: '○', colours: 'bg-quiet-tint text-quiet' },
  live: { mark: '●', colours: 'bg-live-tint text-live' },
  good: { mark: '✓', colours: 'bg-good-tint text-good' },
  wait: { mark: '▲', colours: 'bg-wait-tint text-wait' },
  bad: { mark: '✕', colours: 'bg-bad-tint text-bad' },
  you: { mark: '◆', colours: 'bg-you-tint text-you' },
};

/** A state: never by colour alone. */
export function State({ tone, children }: { tone: Tone; children: ReactNode }) {
  const { mark, colours } = LOOK[tone];
  return (
    <span data-state-label className={`inline-flex items-center gap-1 rounded px-1.5 text-label leading-5 font-medium whitespace-nowrap ${colours}`}>
      <span aria-hidden="true">{mark}</span>
      {children}
    </span>
  );
}

/** A message with more room than a state. */
export function Notice({ tone, children, role }: { tone: Tone; children: ReactNode; role?: 'alert' | 'status' }) {
  const { mark, colours } = LOOK[tone];
  return (
    <div role={role} className={`flex gap-2 rounded-md px-3 py-2 ${colours}`}>
      <span aria-hidden="true">{mark}</span>
      <div className="min-w-0 flex-1">{children}</div>
    </div>
  );
}
