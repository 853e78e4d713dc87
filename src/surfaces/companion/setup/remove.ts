import { existsSync } from 'node:fs';
import { CLIENT_NAMES } from '../../../clients/client.ts';
import type { GitPlace } from '../../../machine/git/place.ts';
import { agentsWithTokens, credentialsPath } from '../../../wire/credentials.ts';
import type { BareInvocation, CommandResult } from '../../cli/command.ts';
import { DEFAULT_ORIGIN } from '../../origin.ts';
import { inspectSetup, type Removal, removeSetup } from '../files.ts';
import { removeService } from '../service/service.ts';
import { noteSetup, setups } from './setups.ts';

const DONE: Readonly<Record<Removal['change'], string>> = {
  deleted: 'deleted: setup had made it',
  restored: 'as it was before setup',
  cleaned: 'without what setup had written; your later changes stay',
  kept: 'kept',
};

/** Files of this repository with entries like ours. That setup wrote them is on no record: it may have, where the repository was moved since. */
function filesLikeOurs(env: NodeJS.ProcessEnv, root: string): string[] {
  const findings = inspectSetup({ env, root, origin: DEFAULT_ORIGIN, hooks: 'command', clients: CLIENT_NAMES, now: 0 });
  return [...new Set(findings.filter(({ state, scope }) => scope === 'repository' && (state === 'good' || state === 'stale')).map(({ shown }) => shown))];
}

/** Undoes what setup wrote here; the service goes with the last repository. Tokens are the person's to revoke. */
export async function removeHere({ env, out }: BareInvocation, { root }: GitPlace): Promise<CommandResult> {
  const { mark } = out;
  const removals = removeSetup({ env, root });
  noteSetup(env, root, undefined);
  const unrecorded = removals.length === 0 ? filesLikeOurs(env, root) : [];
  const others = setups(env).filter((each) => existsSync(each.root)).length;
  const service = others === 0 ? await removeService({ env }) : undefined;
  const tokens = agentsWithTokens(env);
  const lines = [
    ...removals.map(({ shown, change, stays }) => {
      const rest = stays.length > 0 ? `\n    stays: ${stays.join('; ')}` : '';
      return `${change === 'kept' ? mark.wait : mark.good} ${shown}  ${DONE[change]}${rest}`;
    }),
    ...(removals.length === 0 ? [`${mark.quiet} setup had written nothing here`] : []),
    ...unrecorded.map(
      (file) => `${mark.wait} ${file} has entries like ours, which are on no record here\n    next: take them out by hand, if you want them gone`,
    ),
    ...(others > 0 ? [`${mark.quiet} watch service kept, for ${others === 1 ? 'another repository' : `${others} other repositories`} of this machine`] : []),
    ...(service ? [service.removed ? `${mark.good} watch service removed` : `${mark.wait} watch service kept: ${service.file} was changed by hand`] : []),
    ...(tokens.length > 0
      ? [
          `${mark.quiet} ${credentialsPath(env)} keeps the tokens of ${tokens.join(', ')}\n    to end them: covenant devices revoke, or Devices on the dashboard`,
        ]
      : []),
  ];
  return { json: { kind: 'setup_removed', root, removals, service: service ?? null, other_setups: others, tokens }, text: lines.join('\n') };
}
