interface PagerProps {
  /** What there is in all, with its unit. */
  label: string;
  from: number;
  step: number;
  total: number;
  onGo: (from: number) => void;
}

/** A page back and forth; nothing where one page holds all. */
export function Pager({ label, from, step, total, onGo }: PagerProps) {
  if (total <= step && from === 0) return <p className="text-muted">{label}</p>;
  const last = Math.min(from + step, total);
  return (
    <div className="flex items-center gap-2">
      <button type="button" className="button" aria-label={`Back, ${label}`} disabled={from === 0} onClick={() => onGo(Math.max(0, from - step))}>
        ‹
      </button>
      <span className="text-muted">
        {from + 1}–{last} of {label}
      </span>
      <button type="button" className="button" aria-label={`Forward, ${label}`} disabled={last >= total} onClick={() => onGo(from + step)}>
        ›
      </button>
    </div>
  );
}
