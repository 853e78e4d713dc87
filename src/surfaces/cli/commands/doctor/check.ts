import { type Config, ConfigError, loadConfig } from '../../../../config.ts';
import { clockFrom } from '../../../../kernel/clock.ts';
import { Refusal } from '../../../../kernel/reply.ts';
import { StoreError } from '../../../../storage/errors.ts';
import { homeFolder } from '../../../../wire/covenant-home.ts';
import { failureCode } from '../../../../wire/http-client.ts';
import { findServer } from '../../client.ts';
import { CliError, type Invocation } from '../../command.ts';
import type { RunFile } from '../../home.ts';

export type CheckState = 'ok' | 'fixed' | 'warning' | 'failed' | 'skipped';

export interface DoctorFinding {
  readonly check: string;
  readonly state: CheckState;
  /** The code of the trouble, which has a row under "Troubles" in docs/operations.md. */
  readonly code?: string;
  readonly message: string;
  readonly fix?: string;
}

/** The facts that all checks share. */
export interface DoctorContext {
  readonly invocation: Invocation;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** Undefined if the configuration is invalid. The check `config` reports that. */
  readonly config: Config | undefined;
  /** The running server of this home. Undefined if no server answers. */
  readonly server: RunFile | undefined;
  readonly isThorough: boolean;
  readonly now: number;
}

export interface DoctorCheck {
  readonly id: string;
  /** The codes that this check can report. Each code has a row under "Troubles" in docs/operations.md. */
  readonly troubles: readonly string[];
  look(context: DoctorContext): Promise<DoctorFinding[]>;
}

type Found = DoctorFinding | readonly DoctorFinding[];

export interface Say<Code extends string> {
  ok(message: string): DoctorFinding;
  /** Reports that there is nothing to check, which is not a fault. */
  skipped(message: string): DoctorFinding;
  warning(code: Code, message: string, fix: string): DoctorFinding;
  failed(code: Code, message: string, fix: string): DoctorFinding;
}

/** A check can report only the troubles that it declares. */
export function check<const Code extends string>(
  id: string,
  troubles: readonly Code[],
  look: (say: Say<Code>, context: DoctorContext) => Promise<Found> | Found,
): DoctorCheck {
  const say: Say<Code> = {
    ok: (message) => ({ check: id, state: 'ok', message }),
    skipped: (message) => ({ check: id, state: 'skipped', message }),
    warning: (code, message, fix) => ({ check: id, state: 'warning', code, message, fix }),
    failed: (code, message, fix) => ({ check: id, state: 'failed', code, message, fix }),
  };
  return { id, troubles, look: async (context) => [await look(say, context)].flat() };
}

/** Runs a check. If the check throws an error, the report shows the error on one line, and the other checks still run. */
export async function runCheck({ id, look }: DoctorCheck, context: DoctorContext): Promise<DoctorFinding[]> {
  try {
    return await look(context);
  } catch (error) {
    return [
      {
        check: id,
        state: 'warning',
        message: `${id} could not be checked: ${errorText(error)}`,
        fix: 'fix the other problems in this report, then run covenant doctor again',
      },
    ];
  }
}

/** Shows only the messages of our own errors, because the message of any other error may contain a password. */
export function errorText(error: unknown): string {
  if (error instanceof CliError || error instanceof Refusal || error instanceof StoreError || error instanceof ConfigError) return error.message;
  return failureCode(error) ?? (error instanceof Error ? error.name : 'an unknown error');
}

export async function doctorContext(invocation: Invocation): Promise<DoctorContext> {
  const { env, values } = invocation;
  return {
    invocation,
    env,
    home: homeFolder(env),
    config: configOf(env),
    server: await findServer(env),
    isThorough: values.verbose === true,
    now: clockFrom(env).now(),
  };
}

function configOf(env: NodeJS.ProcessEnv): Config | undefined {
  try {
    return loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
