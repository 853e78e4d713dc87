import { launchd } from './launchd.ts';
import { systemd } from './systemd.ts';

/** What the service runs, without a shell. */
export interface ServiceCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** What it needs besides what every service has. */
  readonly env: Readonly<Record<string, string>>;
}

/** What keeps programs running on a kind of machine, for the person who is signed in. */
export interface Keeper {
  readonly name: string;
  readonly program: string;
  file(env: NodeJS.ProcessEnv): string;
  /** What stands in the file. */
  text(command: ServiceCommand): string;
  /** Arguments that succeed where it is there for this person; in a container, or over some remote shells, it is not. */
  readonly probe: readonly string[];
  /** Steps that start the service, and start it anew where `changed`. */
  start(file: string, changed: boolean): readonly ServiceStep[];
  stop(file: string): readonly ServiceStep[];
  /** After the file is gone. */
  readonly forget: readonly ServiceStep[];
  readonly isRunning: readonly string[];
  /** For a person to type. */
  readonly restart: string;
}

export interface ServiceStep {
  readonly args: readonly string[];
  /** That it fails tells nothing: there was nothing to stop. */
  readonly mayFail?: true;
}

export const keeperOf = (platform: NodeJS.Platform): Keeper | undefined => (platform === 'darwin' ? launchd : platform === 'win32' ? undefined : systemd);
