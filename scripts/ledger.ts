/** Compares the rows of `test/requirements.json` with the tests that ran. A skipped test does not cover the rows in its title. */
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
 * Finds the ledger rows that no test covered. If a skipped test cites a row, and the file of the test may skip tests, the row is `excused`. All other rows are
 * `missing`. Rows in test/unmet.json are left out.
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

/** Whether the file skips tests on machines without tmux. */
export const needsTmux = (source: string): boolean => /\btest\.runIf\((present|hasTmux)\)/.test(source);
