/** Shows the number of changed lines, such as "+12 −3". The signs are needed because colour alone is not accessible. An unknown number is a dash. */
export function LinesChanged({ added, removed }: { added: number | null; removed: number | null }) {
  return (
    <span className="whitespace-nowrap">
      <span className="text-good">{added === null ? '—' : `+${added.toLocaleString()}`}</span>{' '}
      <span className="text-bad">{removed === null ? '—' : `−${removed.toLocaleString()}`}</span>
    </span>
  );
}
