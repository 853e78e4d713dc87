interface LinesChangedProps {
  added: number | null;
  removed: number | null;
}

/** "+12 −3"; never by colour alone, and what is not known is a dash. */
export function LinesChanged({ added, removed }: LinesChangedProps) {
  return (
    <span className="whitespace-nowrap">
      <span className="text-good">{added === null ? '—' : `+${added.toLocaleString()}`}</span>{' '}
      <span className="text-bad">{removed === null ? '—' : `−${removed.toLocaleString()}`}</span>
    </span>
  );
}
