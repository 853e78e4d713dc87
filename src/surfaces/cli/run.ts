import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { ConfigError } from '../../config.ts';
import { Refusal } from '../../kernel/errors.ts';
import { SchemaMismatch } from '../../storage/errors.ts';
import { VERSION } from '../../version.ts';
import { type Client, connectClient } from './client.ts';
import { CliError, type Command, type Invocation, type Result, UsageError } from './command.ts';
import { agentCommands } from './commands/agents.ts';
import { approvalCommands } from './commands/approvals.ts';
import { auditCommands } from './commands/audit.ts';
import { backupCommands } from './commands/backup.ts';
import { capabilityCommands } from './commands/capabilities.ts';
import { claimCommands } from './commands/claims.ts';
import { cycleCommands } from './commands/cycle.ts';
import { demoCommands } from './commands/demo.ts';
import { developerCommands } from './commands/developers.ts';
import { deviceCommands } from './commands/devices.ts';
import { doctorCommand } from './commands/doctor.ts';
import { instanceCommands } from './commands/instances.ts';
import { messageCommands } from './commands/messages.ts';
import { overlapCommands } from './commands/overlap.ts';
import { serverCommands } from './commands/server.ts';
import { externalServerCommands } from './commands/servers.ts';
import { settingCommands } from './commands/settings.ts';
import { tokenCommands } from './commands/tokens.ts';
import { toolCommands } from './commands/tools.ts';
import { upCommand } from './commands/up.ts';
import { usageCommands } from './commands/usage.ts';
import { workflowCommands } from './commands/workflow.ts';
import { createOutput } from './output.ts';

export const COMMANDS: readonly Command[] = [
  upCommand,
  ...serverCommands,
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
  ...backupCommands,
];

/** Every command takes these. */
const GLOBAL: ParseArgsOptionsConfig = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } };
const IN_WORKSPACE: ParseArgsOptionsConfig = { workspace: { type: 'string' } };

/** Exit code: 0 done, 1 refused or failed, 2 called wrongly. */
export async function run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<0 | 1 | 2> {
  const out = createOutput(env, process.stdout, process.stderr);
  const json = argv.includes('--json');
  let client: Promise<Client> | undefined;
  try {
    if (argv[0] === '--version') {
      out.result(VERSION);
      return 0;
    }
    const command = findCommand(argv);
    if (!command || argv.includes('--help') || argv.includes('-h')) {
      if (argv.length > 0 && !argv.includes('--help') && !argv.includes('-h')) throw new UsageError(unknownCommand(argv));
      out.result(command ? commandHelp(command) : help());
      return 0;
    }
    const { values, positionals } = parse(command, argv);
    const invocation: Invocation = {
      env,
      cwd: process.cwd(),
      json,
      out,
      values,
      positionals,
      client: () => (client ??= connectClient(env, typeof values.workspace === 'string' ? values.workspace : undefined)),
    };
    const result = await command.run(invocation);
    if (result) out.result(json ? JSON.stringify(result.json) : result.text);
    return (result as Result | undefined)?.exit ?? 0;
  } catch (error) {
    const fault = describe(error);
    if (json) out.result(JSON.stringify({ kind: 'error', code: fault.code, message: fault.message, next: fault.next }));
    else out.note(`${out.mark.bad} ${fault.message}${fault.next ? `\n    next: ${fault.next}` : ''}`);
    return error instanceof UsageError ? 2 : 1;
  } finally {
    await client?.then((opened) => opened.close()).catch(() => {});
  }
}

/** Of a command with parts, the first word alone names none. */
function unknownCommand(argv: readonly string[]): string {
  const parts = COMMANDS.filter(({ name }) => name.startsWith(`${argv[0]} `)).map(({ name }) => name.split(' ')[1]);
  return parts.length > 0 ? `${argv[0]} takes one of ${parts.join(', ')}` : `there is no command ${JSON.stringify(argv.slice(0, 2).join(' '))}`;
}

function findCommand(argv: readonly string[]): Command | undefined {
  const words = argv.filter((word) => !word.startsWith('-'));
  return COMMANDS.find(({ name }) => name === words.slice(0, 2).join(' ')) ?? COMMANDS.find(({ name }) => name === words[0]);
}

function parse(command: Command, argv: readonly string[]) {
  const skip = command.name.split(' ').length;
  const rest = [...argv];
  for (let removed = 0; removed < skip; removed++) {
    rest.splice(
      rest.findIndex((word) => !word.startsWith('-')),
      1,
    );
  }
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: rest, options: { ...GLOBAL, ...(command.local ? {} : IN_WORKSPACE), ...command.options }, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0] ?? '');
  }
  const wanted = command.positionals ?? [];
  const needed = wanted.filter((name) => !name.startsWith('['));
  if (parsed.positionals.length < needed.length) throw new UsageError(`${needed[parsed.positionals.length]} is missing`);
  if (parsed.positionals.length > wanted.length) throw new UsageError(`unexpected ${JSON.stringify(parsed.positionals[wanted.length])}`);
  return { values: parsed.values as Invocation['values'], positionals: parsed.positionals };
}

function describe(error: unknown): { code: string; message: string; next: string } {
  if (error instanceof CliError || error instanceof Refusal) return error;
  if (error instanceof UsageError) return { code: 'USAGE', message: error.message, next: 'covenant --help' };
  if (error instanceof ConfigError) return { code: 'CONFIG_INVALID', message: error.message, next: 'Correct that setting.' };
  if (error instanceof SchemaMismatch) return { code: 'SCHEMA_MISMATCH', message: error.message, next: 'covenant doctor' };
  return { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error), next: 'covenant doctor' };
}

function help(): string {
  const typed = COMMANDS.filter(({ internal }) => !internal);
  const width = Math.max(...typed.map(({ name }) => name.length));
  const lines = typed.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `covenant ${VERSION}\n\n${lines.join('\n')}\n\nEvery command takes --json and --help; those that work in a workspace take --workspace NAME.`;
}

function commandHelp(command: Command): string {
  const options = Object.entries(command.options ?? {}).map(([name, { type }]) => `[--${name}${type === 'string' ? ' …' : ''}]`);
  return `covenant ${[command.name, ...(command.positionals ?? []), ...options].join(' ')}\n\n${command.summary}`;
}
