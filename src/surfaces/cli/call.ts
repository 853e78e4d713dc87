import type { Contract, Output } from '../../kernel/contract.ts';
import { type CliCommand, CliError, type CommandArgument, given, type Invocation } from './command.ts';
import { working } from './progress.ts';

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

/** The actions that commands call. Each answer has the type that its contract declares. */
export type CalledAction = keyof Answers;
export type AnswerTo<A extends CalledAction> = Answers[A];
/** The type of the items in the list that an action returns. */
export type ItemOf<A extends CalledAction> = Answers[A] extends { items: (infer Item)[] } ? Item : never;

export async function call<A extends CalledAction>(
  invocation: Pick<Invocation, 'client' | 'json' | 'out'>,
  action: A,
  input: object = {},
): Promise<AnswerTo<A>> {
  const client = await invocation.client();
  return (await working(invocation, 'Waiting for the server', () => client.action(action, { ...input }))) as unknown as AnswerTo<A>;
}

/** Returns the URL of the running server. Throws if no server of this home is running. */
export async function requireServer(invocation: Pick<Invocation, 'client'>): Promise<string> {
  const { url } = await invocation.client();
  if (url) return url;
  throw new CliError('NOT_RUNNING', 'No server of this home is running.', 'covenant up');
}

/** Finds the item whose id ends in `tail`. If several ids end in it, returns the item whose id is exactly `tail`. */
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

/** A command that makes one call. With `--json`, it prints the answer together with this `kind`. */
interface CallingCommand<A extends CalledAction> extends Omit<CliCommand, 'run' | 'arguments'> {
  readonly action: A;
  /** The positional arguments. `field` names the input field that the argument fills. */
  readonly arguments?: readonly (CommandArgument & { readonly field: string })[];
  /** Returns the other input fields. By default, each option that was given fills the field with the same name. */
  readonly input?: (invocation: Invocation) => object;
  readonly kind: string;
  /** The fields of the answer that the printed JSON contains. By default, it contains all fields. */
  readonly only?: readonly (keyof AnswerTo<A>)[];
  readonly text: (answer: AnswerTo<A>, invocation: Invocation) => string;
}

export function calling<A extends CalledAction>({ action, input, kind, only, text, ...command }: CallingCommand<A>): CliCommand {
  const options = Object.keys(command.options ?? {});
  return {
    ...command,
    async run(invocation) {
      const fields = Object.fromEntries((command.arguments ?? []).map(({ field }, place) => [field, invocation.positionals[place]]));
      const answer = await call(invocation, action, { ...fields, ...(input ? input(invocation) : given(invocation, ...options)) });
      const shown = only ? Object.fromEntries(only.map((field) => [field, answer[field]])) : answer;
      return { json: { kind, ...shown }, text: text(answer, invocation) };
    },
  };
}
