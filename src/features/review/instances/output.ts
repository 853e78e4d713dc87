import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Outside } from './step.ts';
import { isRunning } from './views.ts';

/** The end of what its terminal or log shows, or showed last. */
export async function outputOf(outside: Outside, row: InstanceRow, lines: number): Promise<string> {
  if (row.session_kind === null) return '';
  const sessions = await outside.sessions(row.session_kind);
  const there = row.session_kind === 'process' || row.ended_at === null || isRunning(row);
  const shown = there ? await sessions.screen({ name: row.session_name, pid: row.pid ?? 0, started: row.process_start ?? 0 }, lines) : '';
  return lastLines(shown || ((await outside.keptScreen(row.session_name)) ?? ''), lines);
}

/** A terminal is as high as it is, whatever is on it. */
function lastLines(text: string, most: number): string {
  return text.trimEnd().split('\n').slice(-most).join('\n');
}
