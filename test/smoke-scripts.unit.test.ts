import { existsSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import config from '../vitest.config.ts';

const projects = config.test?.projects as { test: { name: string; include: string[]; exclude?: string[] } }[];

test.each(['smoke:broker', 'smoke:mcp'] as const)('npm run %s installs and builds, and runs a suite that npm test also runs [cycle.smoke.scripts]', (name) => {
  const { scripts } = manifest;
  expect(scripts[`pre${name}`]).toBe(scripts.pretest);
  const [, project = '', file = ''] = /^vitest run --project (\S+) (\S+)$/.exec(scripts[name]) ?? [];
  expect(existsSync(file)).toBe(true);
  // The file must belong to a test project, and no option may exclude it from the run.
  const including = projects.filter(
    ({ test: { include, exclude = [] } }) => [include, exclude].map((globs) => globs.some((glob) => matchesGlob(file, glob))).join() === 'true,false',
  );
  expect(including.map(({ test }) => test.name)).toContain(project);
  expect(scripts.test).toBe('node scripts/test.ts');
  const told = /bin\('vitest'\), \[(.+), \.\.\.only\]/.exec(readFileSync('scripts/test.ts', 'utf8'))?.[1] ?? '';
  expect(told.split(', ').map((argument) => argument.slice(1).replace(/[=.'].*/, ''))).toEqual(['run', '--reporter', '--reporter', '--outputFile']);
});
