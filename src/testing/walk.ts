import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The source files in which a function ran during `call`, sorted. Run the same call before: what happens only the first time is not part of its path. */
export async function filesRunBy(call: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    // Counts begin anew with each taking.
    await session.post('Profiler.takePreciseCoverage');
    await call();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const ran = result
      .filter(({ functions }) => functions.some(({ functionName, ranges }) => functionName !== 'get' && (ranges[0]?.count ?? 0) > 0))
      .map(({ url }) => sourcePath(url));
    return [...new Set(ran)].filter((path) => path.startsWith('src/') && !path.startsWith('src/testing/')).sort();
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

function sourcePath(url: string): string {
  const path = (url.startsWith('file:') ? fileURLToPath(url) : url).split('?')[0] as string;
  return relative(ROOT, path).replaceAll('\\', '/');
}
