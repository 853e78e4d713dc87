#!/usr/bin/env node
// Checks the version of Node before it imports anything. On an old Node, an import could fail with a stack trace instead of the message below.
const [major = 0] = process.versions.node.split('.').map(Number);
const [first = ''] = process.argv.slice(2);
if (major < 20) {
  process.stderr.write(`covibe-mcp needs Node 20 or newer. This is Node ${process.versions.node}.\n    next: npm install --global node@24\n`);
  process.exitCode = 1;
} else if (['-v', '--version'].includes(first)) {
  process.stdout.write(`${(await import('../version.ts')).VERSION}\n`);
} else if (['-h', '--help'].includes(first)) {
  process.stdout.write(`${(await import('../surfaces/cli/bridge-help.ts')).bridgeHelp()}\n`);
} else {
  const { runBridge } = await import('../surfaces/bridge/run.ts');
  process.exitCode = runBridge(process.env);
}

export {};
