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
  // Prints only the kind of error. The messages of the parser contain the faulty line, which can contain a token.
  serveStdio(createBridge({ settings, env, note }), { onerror: (error) => note(`protocol error (${error.name})`) });
  return 0;
}

/** Writes to stderr, because stdout is reserved for the protocol. */
function note(line: string): void {
  process.stderr.write(`covibe-mcp: ${printable(line)}\n`);
}
