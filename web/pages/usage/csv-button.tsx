import type { UsageLine } from '../../api.ts';
import { csvOf } from './csv.ts';
import type { Grouping } from './usage-columns.tsx';

/** The rows that are shown, as a file for a spreadsheet. */
export function CsvButton({ by, days, rows }: { by: Grouping; days: number; rows: readonly UsageLine[] }) {
  const save = (): void => {
    // Excel takes a file without the mark for one in an old encoding.
    const address = URL.createObjectURL(new Blob(['\uFEFF', csvOf(rows)], { type: 'text/csv;charset=utf-8' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `covenant-usage-by-${by}-${days}-days.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return (
    <button type="button" className="button ml-auto" onClick={save}>
      CSV
    </button>
  );
}
