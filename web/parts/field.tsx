import { type ReactNode, useId } from 'react';

/** A control with its name above it. */
export function Field({ label, hint, children }: { label: string; hint?: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="grid content-start gap-1">
      <label htmlFor={id} className="text-label text-muted wrap-anywhere">
        {label}
        {hint && ` (${hint})`}
      </label>
      {children(id)}
    </div>
  );
}
