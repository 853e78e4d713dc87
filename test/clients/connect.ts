import { join } from 'node:path';
import { writeCredentials, writeRunFile } from '../../src/surfaces/cli/home.ts';
import { run } from './process.ts';
import type { Program } from './programs/program.ts';
import { clientsFolder, openWorkplace, type Workplace } from './workplace.ts';

/**
 * Sets up a machine as a person does who follows the output of `covenant connect`. The person runs the command that it prints, or writes the text to the file
 * that it shows.
 */
export async function connected(program: Program): Promise<Workplace> {
  const workplace = await openWorkplace(program.name);
  program.settle(workplace);
  const { text, where } = await printedFor(program, workplace);
  if (where.includes('opencode.json')) workplace.write(join(workplace.repo.path, 'opencode.json'), JSON.parse(text));
  else await typed(text, workplace, program.quiet);
  return workplace;
}

async function printedFor({ name }: Program, workplace: Workplace): Promise<{ text: string; where: string }> {
  const COVENANT_HOME = workplace.t.database.home;
  writeRunFile(COVENANT_HOME, { url: workplace.url, instance: workplace.instance, pid: process.pid });
  writeCredentials(COVENANT_HOME, workplace.t.operator.token);
  const args = ['connect', name, '--developer', 'ana'];
  const { code, stdout, output } = await run('covenant', args, { cwd: workplace.repo.path, env: { ...workplace.env, COVENANT_HOME } });
  if (code !== 0) throw new Error(`covenant ${args.join(' ')}:\n${output}`);
  return { text: stdout, where: output.replace(stdout, '') };
}

async function typed(line: string, workplace: Workplace, quiet: Program['quiet']): Promise<void> {
  const { code, output } = await run('sh', ['-c', line], {
    cwd: workplace.repo.path,
    env: { ...workplace.env, ...quiet, PATH: `${clientsFolder}:${workplace.env.PATH}` },
  });
  if (code !== 0) throw new Error(`${line}:\n${output}`);
}
