import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { printable } from '../../wire/printable.ts';
import { CliError } from '../cli/command.ts';
import { createBridge } from './bridge.ts';
import { type BridgeSettings, readSettings } from './settings.ts';

/** Serves MCP on stdin and stdout until stdin ends. Returns the exit code. */
export function runBridge(env: NodeJS.ProcessEnv): number {
  let settings: BridgeSettings;
  try {
    settings = readSettings(env);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    note(`${error.message}\n    next: ${error.next}`);
    return 1;
  }
  // Only the kind of error, because the parser's messages quote the line, which can contain a token.
  serveStdio(createBridge({ settings, env, note }), { onerror: (error) => note(`protocol error (${error.name})`) });
  return 0;
}

/** Writes to stderr, because stdout carries the protocol. */
function note(line: string): void {
  process.stderr.write(`covibe-mcp: ${printable(line)}\n`);
}
