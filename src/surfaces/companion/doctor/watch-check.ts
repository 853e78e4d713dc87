import { watchCommand } from '../../../features/core/devices/connections.ts';
import { age } from '../../cli/output.ts';
import { setupCommand } from '../files.ts';
import { serviceState } from '../service/service.ts';
import { readWatchStatus } from '../watch/status.ts';
import { type Check, type Checked, failed, ok, open } from './check.ts';

/** It has something to say every minute. */
const SILENT_AFTER_MS = 10 * 60_000;

export async function watchCheck({ env, setup, now }: Checked): Promise<Check> {
  const { origin: of, ...status } = readWatchStatus(env);
  const isForThis = of === setup.origin;
  const { last_sync_at = null, problem = null } = isForThis ? status : {};
  const isFresh = isRecent(last_sync_at, now);
  const service = await serviceState({ env });
  if (service.state === 'stopped' && !isFresh) return failed('watch', 'the watch service does not run', service.restart ?? watchCommand(setup.origin));
  if (service.origin !== undefined && service.origin !== setup.origin)
    return open('watch', `the watch service of this machine is for ${service.origin}; ${setupCommand(setup)} changes it`);
  if (of !== undefined && !isForThis && isRecent(status.last_sync_at, now))
    return open('watch', `watch runs for ${of}; ${watchCommand(setup.origin)} reports to ${setup.origin}`);
  if (problem !== null) return open('watch', `watch: ${problem}`);
  const synced = last_sync_at === null ? 'has not synced yet' : `synced ${age(last_sync_at, now)} ago`;
  if (isFresh) return ok('watch', `watch ${synced}`);
  if (service.state === 'running') return open('watch', `watch ${synced}`);
  return open('watch', `watch does not run: ${watchCommand(setup.origin)}`);
}

const isRecent = (at: number | null | undefined, now: number): boolean => at != null && now - at < SILENT_AFTER_MS;
