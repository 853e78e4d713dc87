import fc from 'fast-check';
import { broken } from './broken.ts';
import { hintFor } from './pools.ts';
import { recipeFor } from './recipes/index.ts';
import type { CallerName } from './scene.ts';
import { valid } from './schema.ts';
import type { Target } from './targets.ts';

/** A generated call. Its placeholders are replaced by existing values when the call is made. */
export interface Call {
  readonly caller: CallerName;
  readonly input: unknown;
  /** Whether a recipe adapts the input so that the call can succeed. */
  readonly recipe: boolean;
  readonly http: boolean;
  /** Whether the caller's client reports its folder, repository and branch. */
  readonly placed: boolean;
  readonly n: number;
}

const weighted = (weights: Partial<Record<CallerName, number>>): fc.Arbitrary<CallerName> =>
  fc.oneof(...Object.entries(weights).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as CallerName) })));

const TOOL_CALLERS = weighted({ ana: 8, ben: 5, ana_too: 2, ana_token: 1, paula: 2, cleo: 1, zoe: 1, operator: 1, ana_web: 1, coder: 1, gone: 1 });
const REVIEW_CALLERS = weighted({ coder: 8, reviewer: 3, ana: 1, gone: 1 });
const ACTION_CALLERS = weighted({ operator: 6, olga_web: 4, ana_web: 6, ben_web: 2, paula_web: 1, zoe_web: 1, ana: 1, coder: 1, gone: 1 });

function callersOf({ noun, contract: { toolset, access } }: Target): fc.Arbitrary<CallerName> {
  if (toolset === 'review') return REVIEW_CALLERS;
  return noun === 'tool' || access === 'token' ? TOOL_CALLERS : ACTION_CALLERS;
}

/**
 * How to generate a call. With `fit`, caller and input are chosen so that the call can succeed. With `fine`, the caller is random and the input matches the
 * schema. With `broken`, the input has an error.
 */
export type Manner = 'fit' | 'fine' | 'broken';

export function callsOf(target: Target, manner: Manner): fc.Arbitrary<Call> {
  const fine = valid(target.schema, hintFor(target));
  const { by } = recipeFor(target);
  const call = fc.record({
    caller: manner === 'fit' ? fc.constantFrom(...by) : fc.oneof(fc.constantFrom(...by), callersOf(target)),
    input: manner === 'broken' ? broken(fine) : fine,
    recipe: fc.constant(manner === 'fit'),
    http: fc.nat(9).map((n) => n === 0),
    placed: fc.nat(3).map((n) => n === 0),
    n: fc.nat(1_000),
  });
  // There is no bias to edge values, because the pools already contain them, and in so few runs there would be too many.
  return fc.noBias(call);
}
