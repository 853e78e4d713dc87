/** "+12 −3", never by colour alone; an unknown number is a dash. */
export function LinesChanged({ added, removed }: { added: number | null; removed: number | null }) {
  return (
    <span className="whitespace-nowrap">
      <span className="text-good">{added === null ? '—' : `+${added.toLocaleString()}`}</span>{' '}
      <span className="text-bad">{removed === null ? '—' : `−${removed.toLocaleString()}`}</span>
    </span>
  );
}
