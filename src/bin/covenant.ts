#!/usr/bin/env node
// Checks the version of Node before it imports anything. On an old Node, an import could fail with a stack trace instead of the message below.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const [first = '', ...others] = process.argv.slice(2);
if (major > 22 || (major === 22 && minor >= 13)) {
  if (others.length === 0 && ['-v', '--version'].includes(first)) {
    process.stdout.write(`${(await import('../version.ts')).VERSION}\n`);
  } else {
    const { run } = await import('../surfaces/cli/run.ts');
    process.exitCode = await run(process.argv.slice(2), process.env);
  }
} else {
  const { byOwnNode } = await import('../surfaces/cli/own-node.ts');
  process.exitCode = (await byOwnNode()) ?? tooOld();
}

function tooOld(): number {
  process.stderr.write(
    `covenant needs Node 22.13 or newer. This is Node ${process.versions.node}.\n` +
      '    next: in a clone, run `npm start`, which installs the right Node; elsewhere, run `npm install --global node@24`\n',
  );
  return 1;
}

export {};
