import { join } from 'node:path';
import { writeCredentials, writeRunFile } from '../../src/surfaces/cli/home.ts';
import { clientsFolder, type House, openHouse } from './house.ts';
import { run } from './process.ts';
import type { Program } from './programs/program.ts';

/** A machine on which what `covenant connect` prints for the client was done as a person does it: typed into a shell, or put into the file that it names. */
export async function connected(program: Program): Promise<House> {
  const house = await openHouse(program.name);
  program.settle(house);
  const { text, where } = await printedFor(program, house);
  if (where.includes('opencode.json')) house.write(join(house.repo.path, 'opencode.json'), JSON.parse(text));
  else await typed(text, house, program.quiet);
  return house;
}

async function printedFor({ name }: Program, house: House): Promise<{ text: string; where: string }> {
  const COVENANT_HOME = house.t.database.home;
  writeRunFile(COVENANT_HOME, { url: house.url, instance: house.instance, pid: process.pid });
  writeCredentials(COVENANT_HOME, house.t.operator.token);
  const args = ['connect', name, '--developer', 'ana'];
  const { code, stdout, output } = await run('covenant', args, { cwd: house.repo.path, env: { ...house.env, COVENANT_HOME } });
  if (code !== 0) throw new Error(`covenant ${args.join(' ')}:\n${output}`);
  return { text: stdout, where: output.replace(stdout, '') };
}

async function typed(line: string, house: House, quiet: Program['quiet']): Promise<void> {
  const { code, output } = await run('sh', ['-c', line], { cwd: house.repo.path, env: { ...house.env, ...quiet, PATH: `${clientsFolder}:${house.env.PATH}` } });
  if (code !== 0) throw new Error(`${line}:\n${output}`);
}
