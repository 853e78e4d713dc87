import type { DiffLine } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { escapeBidi, UntrustedText } from '../../parts/said.tsx';

const LOOK: Record<DiffLine['kind'], { sign: string; name: string; row: string }> = {
  hunk: { sign: '', name: '', row: 'bg-surface text-muted' },
  context: { sign: ' ', name: '', row: '' },
  added: { sign: '+', name: 'added', row: 'bg-good-tint' },
  removed: { sign: '−', name: 'removed', row: 'bg-bad-tint' },
  note: { sign: '', name: '', row: 'text-muted italic' },
};

/** Lines as they were and are, each with its number in either. Long ones are broken, not scrolled. */
export function PatchTable({ path, lines }: { path: string; lines: readonly DiffLine[] }) {
  return (
    <table aria-label={`Changed lines of ${escapeBidi(path)}`} className="mono w-full table-fixed">
      <colgroup>
        <col className="w-11 max-sm:hidden" />
        <col className="w-11" />
        <col className="w-5" />
        <col />
      </colgroup>
      <thead className="sr-only">
        <tr>
          <th scope="col">Before</th>
          <th scope="col">After</th>
          <th scope="col">Change</th>
          <th scope="col">Line</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and pages are only added at the end
          <Line key={index} line={line} />
        ))}
      </tbody>
    </table>
  );
}

function Line({ line: { kind, before, after, text, cut } }: { line: DiffLine }) {
  const { sign, name, row } = LOOK[kind];
  return (
    <tr className={`align-top ${row}`}>
      <td className="pr-2 text-right text-muted select-none max-sm:hidden">{before}</td>
      <td className="pr-2 text-right text-muted select-none">{after}</td>
      <td className="text-center select-none">
        <span aria-hidden="true">{sign}</span>
        {name && <span className="sr-only">{name}</span>}
      </td>
      <td className="pr-2">
        <UntrustedText text={text} />
        {cut > 0 && <span className="text-muted"> … {counted(cut, 'character')} more</span>}
      </td>
    </tr>
  );
}
