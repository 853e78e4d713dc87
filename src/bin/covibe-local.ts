#!/usr/bin/env node
// Checks the version of Node before it imports anything. On an old Node, an import could fail with a stack trace instead of the message below.
const [major = 0] = process.versions.node.split('.').map(Number);
const [first = '', ...others] = process.argv.slice(2);
if (major < 20) {
  process.stderr.write(`covibe-local needs Node 20 or newer. This is Node ${process.versions.node}.\n    next: npm install --global node@24\n`);
  process.exitCode = 1;
} else if (others.length === 0 && ['-v', '--version'].includes(first)) {
  process.stdout.write(`${(await import('../version.ts')).VERSION}\n`);
} else {
  const { runCompanion } = await import('../surfaces/companion/run.ts');
  process.exitCode = await runCompanion(process.argv.slice(2), process.env);
}

export {};
