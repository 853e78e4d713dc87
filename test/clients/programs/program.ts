import type { ClientName } from '../../../src/clients/client.ts';
import { type ArgsOf, type Model, type Protocol, type Step, scriptedModel } from '../models/model.ts';
import { type ClientRun, run } from '../process.ts';
import { clientProgram, type Workplace } from '../workplace.ts';

/** All prompts, answers and edits contain this text. Only the client and its model may see it. */
export const SECRET = 'velvet-otter';
export const PROMPT = `Sort the basket by ${SECRET}.`;

/** Describes how to run a client's program, and how its model calls tools. */
export interface Program {
  readonly name: ClientName;
  readonly bin: string;
  readonly protocol: Protocol;
  /** Prepares the machine as a user does, who signs in and trusts the folder. */
  settle(workplace: Workplace): void;
  /** Settings that prevent the program from contacting servers that it does not need. */
  readonly quiet: Readonly<Record<string, string>>;
  /** Set if the program contacts only its model with these settings. */
  readonly asksNobodyElse?: true;
  /** Returns the command line and the environment for a run without a person. */
  start(workplace: Workplace, model: Model): { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };
  /** Returns a call of one of our tools, with the name that the model must use. Setup names the server `covibe`. */
  ours(tool: string, args: ArgsOf, server?: string): Step & { readonly tool: string };
  /** Returns steps that replace a line of a file. If the client requires it, they read the file first. */
  edit(workplace: Workplace, path: string, from: string, to: string): readonly Step[];
  /** Returns the servers that the program reports as connected. */
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

/** Runs one of the program's commands and returns its output. */
export const ask = ({ bin, quiet }: Program, workplace: Workplace, args: readonly string[]): Promise<ClientRun> =>
  run(clientProgram(bin), args, { cwd: workplace.repo.path, env: { ...workplace.env, ...quiet } });
