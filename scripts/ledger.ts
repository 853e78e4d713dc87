/** The rows of `test/requirements.json` and the tests that ran: a row that stands in the title of a skipped test is not tested. */
export interface TestReport {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  /** `name`: the path of the file. */
  testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[];
}

const ROW = /\[([a-z]+(?:\.[a-z0-9-]+)+)\]/g;

export const rowsIn = (text: string): string[] => [...text.matchAll(ROW)].map(([, id]) => id as string);

const RAN = ['passed', 'failed'];
const SKIPPED = ['skipped', 'pending', 'todo'];

/**
 * The rows of the ledger that no test has tried which ran: `excused` stand in the title of a test that was skipped in a file that may skip its tests,
 * `missing` do not. Those that are known to be unmet are left out.
 */
export function rowsNotRun(
  report: TestReport,
  ledger: readonly { id: string }[],
  unmet: readonly { rows: string[] }[],
  maySkip: (file: string) => boolean,
): { excused: string[]; missing: string[] } {
  const tests = report.testResults.flatMap(({ name, assertionResults }) => assertionResults.map((test) => ({ ...test, file: name })));
  const citedIn = (found: typeof tests) => found.flatMap(({ fullName }) => rowsIn(fullName));
  const tried = new Set([...citedIn(tests.filter(({ status }) => RAN.includes(status))), ...unmet.flatMap(({ rows }) => rows)]);
  const skipped = new Set(citedIn(tests.filter(({ status, file }) => SKIPPED.includes(status) && maySkip(file))));
  const open = ledger.map(({ id }) => id).filter((id) => !tried.has(id));
  return { excused: open.filter((id) => skipped.has(id)), missing: open.filter((id) => !skipped.has(id)) };
}

/** Its tests ask whether there is a tmux, which a machine need not have, and are skipped where there is none. */
export const needsTmux = (source: string): boolean => /\btest\.runIf\((present|hasTmux)\)/.test(source);
