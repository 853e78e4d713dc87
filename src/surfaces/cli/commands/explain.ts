import { type CliCommand, CliError } from '../command.ts';
import { table } from '../output.ts';

export const explainCommand: CliCommand = {
  name: 'explain',
  local: true,
  summary: 'Explain an error code.',
  description: 'Prints the meaning, the cause and the next step. Without CODE, the command lists all codes.',
  arguments: [{ name: 'CODE', description: 'The error code that a tool or a command with `--json` reported.', optional: true }],
  examples: ['explain CAPABILITY_DENIED', 'explain'],
  async run({ positionals, out }) {
    const { ERROR_CODES } = await import('../error-codes/index.ts');
    const typed = positionals[0]?.toUpperCase();
    if (typed === undefined) {
      const items = Object.entries(ERROR_CODES).map(([code, entry]) => ({ code, ...entry }));
      const rows = items.map(({ code, meaning }) => [code, meaning]);
      return { json: { kind: 'error_code_list', items }, text: table({ head: ['CODE', 'MEANING'], narrow: [['MEANING', 20]] }, rows, out.columns) };
    }
    const entry = Object.hasOwn(ERROR_CODES, typed) ? ERROR_CODES[typed] : undefined;
    if (!entry) throw await unknownCode(typed, Object.keys(ERROR_CODES));
    const lines = [typed, `  Meaning  ${entry.meaning}`, `  Cause    ${entry.cause}`, `  Next     ${entry.next}`];
    return { json: { kind: 'error_code', code: typed, ...entry }, text: lines.join('\n') };
  },
};

async function unknownCode(typed: string, codes: readonly string[]): Promise<CliError> {
  const { nearest } = await import('../../../wire/nearest.ts');
  const meant = nearest(typed, codes);
  const next = meant === undefined ? 'covenant explain' : `covenant explain ${meant}`;
  return new CliError('UNKNOWN_CODE', `Unknown error code ${JSON.stringify(typed)}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`, next);
}
