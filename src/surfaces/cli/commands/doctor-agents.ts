import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../../../config.ts';
import type { instancesClearOrphans, instancesOrphans, Orphan } from '../../../features/review/instances/contract.ts';
import type { Output as Answer } from '../../../kernel/contract.ts';
import { findServer } from '../client.ts';
import { asking, type CliCommand, type Invocation, option, UsageError } from '../command.ts';
import { type CheckState, type DoctorFinding, inWords as faultInWords } from './doctor/check.ts';

interface Answers {
  'instances.orphans': Answer<typeof instancesOrphans>;
  'instances.clear_orphans': Answer<typeof instancesClearOrphans>;
}
const ask = asking<Answers>();

/** What agents have left on this machine that nobody needs; with --fix it is taken away. */
export async function agentsLeft(invocation: Invocation): Promise<DoctorFinding[]> {
  if (!(await hasStore(invocation))) return [{ check: 'agents', state: 'skipped', message: 'no agent was ever started from this home' }];
  try {
    return invocation.values.fix === true ? await cleared(invocation) : await found(invocation);
  } catch (error) {
    // A store that cannot be opened is told of by its own check; who wants something done is told why it was not.
    if (invocation.values.fix === true) throw error;
    return [{ check: 'agents', state: 'skipped', message: `what agents have left is not known: ${faultInWords(error)}` }];
  }
}

/** Nothing is made only to look: a database that is not there yet has no instances. */
async function hasStore({ env }: Invocation): Promise<boolean> {
  if (await findServer(env)) return true;
  try {
    const { database_url, database_path } = loadConfig(env);
    return database_url !== undefined || existsSync(database_path);
  } catch {
    return false;
  }
}

async function found(invocation: Invocation): Promise<DoctorFinding[]> {
  const { items } = await ask(invocation, 'instances.orphans');
  if (items.length === 0) return [NOTHING];
  return items.map((orphan) => ({
    check: 'agents',
    state: 'warning',
    code: 'AGENTS_LEFT',
    message: `${inWords(orphan)}${because(orphan)}`,
    fix: remedy(orphan),
  }));
}

async function cleared(invocation: Invocation): Promise<DoctorFinding[]> {
  const force = option(invocation, 'force');
  const { items } = await ask(invocation, 'instances.clear_orphans', force === undefined ? {} : { force: resolve(invocation.cwd, force) });
  if (items.length === 0) return [NOTHING];
  return items.map((orphan) => {
    if (!orphan.cleared)
      return { check: 'agents', state: 'warning', code: 'AGENTS_LEFT', message: `${inWords(orphan)}: kept${because(orphan)}`, fix: remedy(orphan) };
    const kept = orphan.backup_ref === null ? '' : `; what was in it is kept as ${orphan.backup_ref}`;
    return { check: 'agents', state: 'fixed', message: `${inWords(orphan)}: ${orphan.kind === 'session' ? 'ended' : `removed${kept}`}` };
  });
}

const NOTHING: DoctorFinding = { check: 'agents', state: 'ok', message: 'agents have left neither sessions nor worktrees behind' };

const inWords = ({ kind, name, path }: Orphan): string =>
  kind === 'session' ? `session ${name} runs, and no instance needs it` : `worktree ${path} is there, and no instance needs it`;

const because = ({ reason }: Orphan): string => (reason === null ? '' : `, because ${reason}`);

const remedy = ({ command }: Orphan): string => (command === null ? 'see to that by hand; then covenant doctor --fix' : command.map(word).join(' '));

/** As it can be pasted into a shell. */
const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export const doctorCommand: CliCommand = {
  name: 'doctor',
  local: true,
  summary:
    'Check this installation, and say how to mend what is wrong; with --verbose also what is right, and the whole journal. --fix clears what agents have left; --force PATH a worktree with work in it, after a backup.',
  options: { verbose: { type: 'boolean' }, fix: { type: 'boolean' }, force: { type: 'string' } },
  async run(invocation) {
    if (invocation.values.force !== undefined && invocation.values.fix !== true) throw new UsageError('--force PATH goes with --fix');
    const { allFindings, placeOf } = await import('./doctor/checks.ts');
    const findings = await allFindings(await placeOf(invocation));
    const count = (state: CheckState) => findings.filter((finding) => finding.state === state).length;
    const shown = invocation.values.verbose ? findings : findings.filter(({ state }) => state !== 'ok' && state !== 'skipped');
    const { mark } = invocation.out;
    const marks: Record<CheckState, string> = { ok: mark.good, fixed: mark.good, warning: mark.wait, failed: mark.bad, skipped: mark.quiet };
    const lines = shown.map(({ state, message, fix }) => `${marks[state]} ${message}${fix ? `\n    fix: ${fix}` : ''}`);
    if (findings.some(({ check, state }) => check === 'agents' && state === 'warning') && invocation.values.fix !== true)
      lines.push('    next: covenant doctor --fix');
    lines.push(`${count('failed')} failed, ${count('warning')} warning, ${count('ok')} ok${invocation.values.verbose ? '' : ' (--verbose)'}`);
    return { json: { kind: 'doctor_report', failed: count('failed'), items: findings }, text: lines.join('\n'), exit: count('failed') > 0 ? 1 : 0 };
  },
};
