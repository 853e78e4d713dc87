import { type CliCommand, UsageError } from '../../command.ts';
import { working } from '../../progress.ts';
import type { CheckState } from './check.ts';

export const doctorCommand: CliCommand = {
  name: 'doctor',
  local: true,
  summary: 'Check this installation and say how to fix problems.',
  options: {
    verbose: { description: 'Also list the checks that passed, and verify the whole journal.' },
    fix: { description: 'Remove the sessions and worktrees that agents left behind.' },
    force: { value: 'PATH', description: 'With `--fix`: also remove this worktree, even if it has unsaved work. A git ref keeps a backup of the work.' },
  },
  examples: ['doctor', 'doctor --verbose', 'doctor --fix'],
  async run(invocation) {
    if (invocation.values.force !== undefined && invocation.values.fix !== true)
      throw new UsageError('`--force` needs `--fix`, for example: covenant doctor --fix --force PATH');
    const { allFindings, doctorContext } = await import('./checks.ts');
    const findings = await working(invocation, 'Checking', async () => await allFindings(await doctorContext(invocation)));
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
