/** The rows of `test/requirements.json` and the tests that ran: a row that stands in the title of a skipped test is not tested. */
export interface TestReport {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  testResults: { assertionResults: { title: string; fullName: string; status: string }[] }[];
}

const ROW = /\[([a-z]+(?:\.[a-z0-9-]+)+)\]/g;

export const rowsIn = (text: string): string[] => [...text.matchAll(ROW)].map(([, id]) => id as string);

const RAN = ['passed', 'failed'];
const SKIPPED = ['skipped', 'pending', 'todo'];

/**
 * The rows of the ledger that no test has tried which ran: `skipped` stand in the title of a test that was skipped, `absent` in none.
 * Those that are known to be unmet are left out.
 */
export function rowsNotRun(
  report: TestReport,
  ledger: readonly { id: string }[],
  unmet: readonly { rows: string[] }[],
): { skipped: string[]; absent: string[] } {
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const citedBy = (states: readonly string[]) => tests.filter(({ status }) => states.includes(status)).flatMap(({ fullName }) => rowsIn(fullName));
  const tried = new Set([...citedBy(RAN), ...unmet.flatMap(({ rows }) => rows)]);
  const cited = new Set(citedBy(SKIPPED));
  const missing = ledger.map(({ id }) => id).filter((id) => !tried.has(id));
  return { skipped: missing.filter((id) => cited.has(id)), absent: missing.filter((id) => !cited.has(id)) };
}
