import type { Contract, Output } from '../../kernel/contract.ts';
import { type CliCommand, type CliError, given, type Invocation } from './command.ts';

type Contracts =
  | typeof import('../../features/core/approvals/contract.ts')
  | typeof import('../../features/core/capabilities/contract.ts')
  | typeof import('../../features/core/devices/contract.ts')
  | typeof import('../../features/core/events/contract.ts')
  | typeof import('../../features/core/identity/contract.ts')
  | typeof import('../../features/core/server/contract.ts')
  | typeof import('../../features/core/settings/contract.ts')
  | typeof import('../../features/cycle/contract.ts')
  | typeof import('../../features/gateway/servers/contract.ts')
  | typeof import('../../features/gateway/tools/contract.ts')
  | typeof import('../../features/people/lookup/contract.ts')
  | typeof import('../../features/people/roster/contract.ts')
  | typeof import('../../features/review/instances/contract.ts')
  | typeof import('../../features/team/coordination/contract.ts')
  | typeof import('../../features/team/overlap/contract.ts')
  | typeof import('../../features/team/usage/contract.ts')
  | typeof import('../../features/workflow/messages/contract.ts')
  | typeof import('../../features/workflow/oversight/contract.ts')
  | typeof import('../../features/workflow/steering/contract.ts');
type Exported<M> = M extends unknown ? M[keyof M] : never;
type NamedContract = Extract<Exported<Contracts>, Contract & { readonly name: `${string}.${string}` }>;
type Answers = { [C in NamedContract as C['name']]: Output<C> };

/** The actions that commands call, and what the server answers to each, by its own contract. */
export type CalledAction = keyof Answers;
export type AnswerTo<A extends CalledAction> = Answers[A];
/** One of the items that an action lists. */
export type ItemOf<A extends CalledAction> = Answers[A] extends { items: (infer Item)[] } ? Item : never;

export async function call<A extends CalledAction>({ client }: Pick<Invocation, 'client'>, action: A, input: object = {}): Promise<AnswerTo<A>> {
  return (await (await client()).action(action, { ...input })) as unknown as AnswerTo<A>;
}

/** The only item whose id ends so; of several, the one whose whole id it is. */
export function itemEndingIn<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  tail: string,
  refusals: { readonly none: CliError; readonly several: (fitting: readonly Item[]) => CliError },
): Item {
  const fitting = items.filter((item) => idOf(item).endsWith(tail));
  const meant = fitting.length > 1 ? fitting.find((item) => idOf(item) === tail) : fitting[0];
  if (meant) return meant;
  throw fitting.length === 0 ? refusals.none : refusals.several(fitting);
}

/** A command that is one call: its JSON is the answer, called `kind`. */
interface CallingCommand<A extends CalledAction> extends Omit<CliCommand, 'run' | 'positionals'> {
  readonly action: A;
  /** As they are typed, each with the field that it fills. */
  readonly positionals?: Readonly<Record<string, string>>;
  /** The other fields; unless this says otherwise the options that were given, by their names. */
  readonly input?: (invocation: Invocation) => object;
  readonly kind: string;
  /** All that the JSON has of the answer, where that is not all of it. */
  readonly only?: readonly (keyof AnswerTo<A>)[];
  readonly text: (answer: AnswerTo<A>, invocation: Invocation) => string;
}

export function calling<A extends CalledAction>({ action, positionals = {}, input, kind, only, text, ...command }: CallingCommand<A>): CliCommand {
  const options = Object.keys(command.options ?? {});
  return {
    ...command,
    positionals: Object.keys(positionals),
    async run(invocation) {
      const fields = Object.fromEntries(Object.values(positionals).map((field, place) => [field, invocation.positionals[place]]));
      const answer = await call(invocation, action, { ...fields, ...(input ? input(invocation) : given(invocation, ...options)) });
      const shown = only ? Object.fromEntries(only.map((field) => [field, answer[field]])) : answer;
      return { json: { kind, ...shown }, text: text(answer, invocation) };
    },
  };
}
