import type { ClientName } from '../../../src/clients/client.ts';
import { type ArgsOf, type Model, type Protocol, type Step, scriptedModel } from '../models/model.ts';
import { type ClientRun, run } from '../process.ts';
import { clientProgram, type Workplace } from '../workplace.ts';

/** A word in all prompts, answers and edits. Only the client and its model may see it. */
export const SECRET = 'velvet-otter';
export const PROMPT = `Sort the basket by ${SECRET}.`;

/** How to run a client's program, and how its model names things. */
export interface Program {
  readonly name: ClientName;
  readonly bin: string;
  readonly protocol: Protocol;
  /** Prepares the machine as its user would: signs in, trusts the folder. */
  settle(workplace: Workplace): void;
  /** Settings that keep it from contacting unnecessary servers. */
  readonly quiet: Readonly<Record<string, string>>;
  /** With these settings it contacts only its model. */
  readonly asksNobodyElse?: true;
  /** The command line and environment of one run without a person, with the prompt and the model that answers. */
  start(workplace: Workplace, model: Model): { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };
  /** One of our tools, by the name its model uses. Setup calls the server `covibe`. */
  ours(tool: string, args: ArgsOf, server?: string): Step & { readonly tool: string };
  /** Replaces a line of a file, after reading the file if the client requires that. */
  edit(workplace: Workplace, path: string, from: string, to: string): readonly Step[];
  /** The servers that it reports as connected. */
  connections(workplace: Workplace): Promise<readonly string[]>;
}

export interface AgentRun extends ClientRun {
  readonly model: Model;
}

/** Runs the agent until it has nothing left to do. */
export async function runAgent(program: Program, workplace: Workplace, steps: readonly Step[]): Promise<AgentRun> {
  const model = await scriptedModel(program.protocol, steps);
  const { args, env } = program.start(workplace, model);
  const ran = await run(clientProgram(program.bin), args, { cwd: workplace.repo.path, env: { ...workplace.env, ...program.quiet, ...env } });
  if (model.failures.length > 0) throw model.failures[0];
  if (ran.code !== 0) throw new Error(`${program.bin} ended with ${ran.code}:\n${ran.output}`);
  if (model.turns.length < steps.length) throw new Error(`${program.bin} asked its model ${model.turns.length} times, not ${steps.length}:\n${ran.output}`);
  return { ...ran, model };
}

/** The output of one of its commands. */
export const ask = ({ bin, quiet }: Program, workplace: Workplace, args: readonly string[]): Promise<ClientRun> =>
  run(clientProgram(bin), args, { cwd: workplace.repo.path, env: { ...workplace.env, ...quiet } });
