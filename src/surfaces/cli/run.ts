import { VERSION } from '../../version.ts';
import type { Client } from './client.ts';
import { option } from './command.ts';
import { GROUPS } from './groups.ts';
import { type Fault, runProgram, type Terminal } from './program.ts';

/** The exit codes of `covenant`, with their meanings. */
export const EXITS = { 0: 'done', 1: 'refused or failed', 2: 'called wrongly' } as const;

const FOOTER = 'Global options: --json, --workspace NAME, --no-color, -h, --help, -v, --version';

/** Returns the exit code. */
export async function run(argv: readonly string[], env: NodeJS.ProcessEnv, terminal: Terminal = process): Promise<0 | 1 | 2 | 3> {
  let client: Promise<Client> | undefined;
  try {
    const program = { name: 'covenant', version: VERSION, groups: GROUPS, exits: EXITS, faultOf, footer: FOOTER };
    const connect = async (workspace: string | undefined, cwd: string) => (await import('./client.ts')).connectClient(env, workspace, cwd);
    return await runProgram(program, argv, env, (bare) => ({ client: () => (client ??= connect(option(bare, 'workspace'), bare.cwd)) }), terminal);
  } finally {
    await client?.then((opened) => opened.close()).catch(() => {});
  }
}

/** Imports the configuration module only after an error, because that module loads the schema library and would slow down every command. */
async function faultOf(error: unknown): Promise<Fault | undefined> {
  const [{ ConfigError }, { SchemaMismatch }] = await Promise.all([import('../../config.ts'), import('../../storage/errors.ts')]);
  if (error instanceof ConfigError) return { code: 'CONFIG_INVALID', message: error.message, next: 'Correct that setting, then run the command again.' };
  if (error instanceof SchemaMismatch) return { code: 'SCHEMA_MISMATCH', message: error.message, next: 'covenant doctor' };
  return undefined;
}
