import type { ClientName } from '../../../src/clients/client.ts';
import { type ArgsOf, type Model, type Protocol, type Step, scriptedModel } from '../models/model.ts';
import { type ClientRun, run } from '../process.ts';
import { clientProgram, type Workplace } from '../workplace.ts';

/** Stands in what the agent is asked, says and writes: none of it is for anybody but the client and its model. */
export const SECRET = 'velvet-otter';
export const PROMPT = `Sort the basket by ${SECRET}.`;

/** How a client's program is driven, and how its model speaks of things. */
export interface Program {
  readonly name: ClientName;
  readonly bin: string;
  readonly protocol: Protocol;
  /** What its person has done on this machine before: signed in, trusted the folder. */
  settle(workplace: Workplace): void;
  /** So that it asks nobody whom it does not need. */
  readonly quiet: Readonly<Record<string, string>>;
  /** So quiet, it asks nobody but its model. */
  readonly asksNobodyElse?: true;
  /** One run without a person: what it is asked, and by which model it is answered. */
  start(workplace: Workplace, model: Model): { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };
  /** A tool of ours, as its model asks for it. The server is called `covibe` where setup has named it. */
  ours(tool: string, args: ArgsOf, server?: string): Step & { readonly tool: string };
  /** A line of a file is replaced; the file is read before, where the client wants that. */
  edit(workplace: Workplace, path: string, from: string, to: string): readonly Step[];
  /** Servers that it says it is connected to. */
  connections(workplace: Workplace): Promise<readonly string[]>;
}

export interface AgentRun extends ClientRun {
  readonly model: Model;
}

/** The whole agent, until it has nothing left to do. */
export async function runAgent(program: Program, workplace: Workplace, steps: readonly Step[]): Promise<AgentRun> {
  const model = await scriptedModel(program.protocol, steps);
  const { args, env } = program.start(workplace, model);
  const ran = await run(clientProgram(program.bin), args, { cwd: workplace.repo.path, env: { ...workplace.env, ...program.quiet, ...env } });
  if (model.failures.length > 0) throw model.failures[0];
  if (ran.code !== 0) throw new Error(`${program.bin} ended with ${ran.code}:\n${ran.output}`);
  if (model.turns.length < steps.length) throw new Error(`${program.bin} asked its model ${model.turns.length} times, not ${steps.length}:\n${ran.output}`);
  return { ...ran, model };
}

/** What one of its commands prints. */
export const ask = ({ bin, quiet }: Program, workplace: Workplace, args: readonly string[]): Promise<ClientRun> =>
  run(clientProgram(bin), args, { cwd: workplace.repo.path, env: { ...workplace.env, ...quiet } });
