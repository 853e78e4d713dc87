import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { printable } from '../../wire/printable.ts';
import { CliError } from '../cli/command.ts';
import { createBridge } from './bridge.ts';
import { type BridgeSettings, readSettings } from './settings.ts';

/** Serves stdin and stdout until stdin ends. The exit code. */
export function runBridge(env: NodeJS.ProcessEnv): number {
  let settings: BridgeSettings;
  try {
    settings = readSettings(env);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    note(`${error.message}\n    next: ${error.next}`);
    return 1;
  }
  // Only the error's kind: the parser's messages quote what was on the line, which may be a token.
  serveStdio(createBridge({ settings, env, note }), { onerror: (error) => note(`protocol error (${error.name})`) });
  return 0;
}

/** stdout belongs to the protocol. */
function note(line: string): void {
  process.stderr.write(`covibe-mcp: ${printable(line)}\n`);
}
