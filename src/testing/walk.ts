import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Matches the code that Vite writes for an export. It is a function that is called wherever the exported name is used. */
const EXPORT = /^\(\) ?=> ?\{ ?try ?\{ ?return [\w.$]+;? ?\} ?catch/;

/**
 * Returns the source files in which a function ran during each of the calls, sorted by name. Functions that timers call in the meantime count too. Make the
 * same call once before, so that code which runs only the first time is not included.
 */
export async function filesRunByEach(calls: readonly (() => Promise<unknown>)[]): Promise<string[]> {
  let common: string[] | undefined;
  for (const call of calls) {
    const files = await filesRunBy(call);
    common = common?.filter((file) => files.includes(file)) ?? files;
  }
  return common ?? [];
}

async function filesRunBy(call: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Debugger.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    // A snapshot sets all counts back to zero.
    await session.post('Profiler.takePreciseCoverage');
    await call();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const ran = new Set<string>();
    for (const { scriptId, url, functions } of result) {
      const path = sourcePath(url);
      if (!path.startsWith('src/') || path.startsWith('src/testing/')) continue;
      const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
      const isOurs = functions.some(({ ranges: [range] }) => range && range.count > 0 && !EXPORT.test(scriptSource.slice(range.startOffset, range.endOffset)));
      if (isOurs) ran.add(path);
    }
    return [...ran].sort();
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

function sourcePath(url: string): string {
  const path = (url.startsWith('file:') ? fileURLToPath(url) : url).split('?')[0] as string;
  return relative(ROOT, path).replaceAll('\\', '/');
}
