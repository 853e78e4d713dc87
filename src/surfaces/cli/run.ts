import { ConfigError } from '../../config.ts';
import { SchemaMismatch } from '../../storage/errors.ts';
import { VERSION } from '../../version.ts';
import { type Client, connectClient } from './client.ts';
import { type CliCommand, option } from './command.ts';
import { agentCommands } from './commands/agents.ts';
import { approvalCommands } from './commands/approvals.ts';
import { auditCommands } from './commands/audit.ts';
import { backupCommand } from './commands/backup.ts';
import { capabilityCommands } from './commands/capabilities.ts';
import { claimCommands } from './commands/claims.ts';
import { companionCommands } from './commands/companion.ts';
import { connectCommand } from './commands/connect.ts';
import { cycleCommands } from './commands/cycle.ts';
import { demoCommands } from './commands/demo.ts';
import { developerCommands } from './commands/developers.ts';
import { deviceCommands } from './commands/devices.ts';
import { doctorCommand } from './commands/doctor/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { externalServerCommands } from './commands/external-servers.ts';
import { importCommand } from './commands/import.ts';
import { instanceCommands } from './commands/instances.ts';
import { messageCommands } from './commands/messages.ts';
import { openCommand } from './commands/open.ts';
import { overlapCommands } from './commands/overlap.ts';
import { restoreCommand } from './commands/restore.ts';
import { settingCommands } from './commands/settings.ts';
import { statusCommand } from './commands/status.ts';
import { tokenCommands } from './commands/tokens.ts';
import { toolCommands } from './commands/tools.ts';
import { upCommand } from './commands/up.ts';
import { usageCommands } from './commands/usage.ts';
import { workflowCommands } from './commands/workflow.ts';
import { type Fault, runProgram, type Terminal } from './program.ts';

export const COMMANDS: readonly CliCommand[] = [
  upCommand,
  openCommand,
  connectCommand,
  statusCommand,
  doctorCommand,
  ...demoCommands,
  ...toolCommands,
  ...externalServerCommands,
  ...capabilityCommands,
  ...approvalCommands,
  ...auditCommands,
  ...usageCommands,
  ...tokenCommands,
  ...deviceCommands,
  ...developerCommands,
  ...overlapCommands,
  ...claimCommands,
  ...settingCommands,
  ...workflowCommands,
  ...agentCommands,
  ...messageCommands,
  ...cycleCommands,
  ...instanceCommands,
  backupCommand,
  restoreCommand,
  ...companionCommands,
  exportCommand,
  importCommand,
];

/** Exit code: 0 done, 1 refused or failed, 2 called wrongly. */
export async function run(argv: readonly string[], env: NodeJS.ProcessEnv, terminal: Terminal = process): Promise<0 | 1 | 2 | 3> {
  let client: Promise<Client> | undefined;
  try {
    const program = { name: 'covenant', version: VERSION, commands: COMMANDS, faultOf, footer: FOOTER };
    return await runProgram(program, argv, env, (bare) => ({ client: () => (client ??= connectClient(env, option(bare, 'workspace'), bare.cwd)) }), terminal);
  } finally {
    await client?.then((opened) => opened.close()).catch(() => {});
  }
}

const FOOTER = 'Every command takes --json and --help; those that work in a workspace take --workspace NAME.';

function faultOf(error: unknown): Fault | undefined {
  if (error instanceof ConfigError) return { code: 'CONFIG_INVALID', message: error.message, next: 'Correct that setting.' };
  if (error instanceof SchemaMismatch) return { code: 'SCHEMA_MISMATCH', message: error.message, next: 'covenant doctor' };
  return undefined;
}
