#!/usr/bin/env node
// Imports nothing before the check: on an old Node the rest would fail with a stack trace instead of a sentence.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 13)) {
  const { run } = await import('../surfaces/cli/run.ts');
  process.exitCode = await run(process.argv.slice(2), process.env);
} else {
  const { byOwnNode } = await import('../surfaces/cli/own-node.ts');
  process.exitCode = (await byOwnNode()) ?? tooOld();
}

function tooOld(): number {
  process.stderr.write(
    `covenant needs Node 22.13 or newer, and this is ${process.versions.node}.\n` +
      '    next: in a clone, `npm start` brings its own Node; elsewhere install one: npm install --global node@24\n',
  );
  return 1;
}

export {};
