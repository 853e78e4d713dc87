#!/usr/bin/env node
// Imports nothing before the check: on an old Node the rest would fail with a stack trace instead of a sentence.
const [major = 0] = process.versions.node.split('.').map(Number);
if (major >= 20) {
  const { runCompanion } = await import('../surfaces/companion/run.ts');
  process.exitCode = await runCompanion(process.argv.slice(2), process.env);
} else {
  process.stderr.write(`covibe-local needs Node 20 or newer, and this is ${process.versions.node}.\n    next: npm install --global node@24\n`);
  process.exitCode = 1;
}

export {};
