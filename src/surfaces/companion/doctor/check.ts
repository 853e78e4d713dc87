import { CliError } from '../../cli/command.ts';
import type { ServerProbe } from '../server-state.ts';
import type { SetUp } from '../setup/setups.ts';

/** `open`: nothing is wrong with the setup, and yet somebody may want to know. */
export interface SetupCheck {
  readonly check: string;
  readonly state: 'ok' | 'failed' | 'open';
  readonly message: string;
  readonly fix?: string;
}

export interface SetupCheckContext {
  readonly env: NodeJS.ProcessEnv;
  readonly setup: SetUp;
  readonly server: ServerProbe;
  readonly now: number;
}

export const ok = (check: string, message: string): SetupCheck => ({ check, state: 'ok', message });
export const open = (check: string, message: string): SetupCheck => ({ check, state: 'open', message });
export const failed = (check: string, message: string, fix: string): SetupCheck => ({ check, state: 'failed', message, fix });

/** What cannot be looked at is a finding like any other, and hides none. */
export async function runSetupCheck(check: string, look: () => readonly SetupCheck[] | Promise<readonly SetupCheck[]>): Promise<readonly SetupCheck[]> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof CliError) return [failed(check, error.message.replace(' Nothing was changed.', ''), error.next)];
    const { path, code, name } = error as NodeJS.ErrnoException;
    const where = path === undefined ? '' : `: ${path} cannot be read`;
    return [failed(check, `${check} could not be checked${where} (${code ?? name})`, 'make it readable, or move it away; then covibe-local doctor')];
  }
}
