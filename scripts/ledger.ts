/** The rows of `test/requirements.json` and the tests that ran: a row that stands in the title of a skipped test is not tested. */
export interface TestReport {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  testResults: { assertionResults: { title: string; fullName: string; status: string }[] }[];
}

const ROW = /\[([a-z]+(?:\.[a-z0-9-]+)+)\]/g;

export const rowsIn = (text: string): string[] => [...text.matchAll(ROW)].map(([, id]) => id as string);

/** The rows of the ledger that no test has tried which ran; those that are known to be unmet are left out. */
export function rowsNotRun(report: TestReport, ledger: readonly { id: string }[], unmet: readonly { rows: string[] }[]): string[] {
  const ran = report.testResults.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status === 'passed' || status === 'failed');
  const tried = new Set([...ran.flatMap(({ fullName }) => rowsIn(fullName)), ...unmet.flatMap(({ rows }) => rows)]);
  return ledger.map(({ id }) => id).filter((id) => !tried.has(id));
}
