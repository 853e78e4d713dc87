import type { Kysely } from 'kysely';
import { IMPORT_RULES } from '../../features/import-rules.ts';
import type { Db } from '../../storage/engine.ts';
import type { TransferRow } from '../../storage/transfer/layout.ts';
import type { RowRules } from '../../storage/transfer/row-rules.ts';
import { inRun } from '../scope.ts';
import { type Fuzz, fuzzOf, type Tally } from './fuzz.ts';
import { openFuzzScene } from './scene.ts';
import type { Target } from './targets.ts';

export interface Campaign {
  readonly calls: number;
  readonly tallies: ReadonlyMap<string, Tally>;
  /** Each field that no successful call has read, as `TARGET FIELD`. */
  readonly unread: readonly string[];
  /** Targets that were called but never succeeded. */
  readonly never: readonly string[];
  /** Rows that the server wrote and that an import would refuse. */
  readonly refused: readonly string[];
}

/** After this many calls a new scene is started, because earlier calls affect later ones. */
const CALLS_OF_A_SCENE = 5_000;
const MAX_MORE = 6;
const FRESH_SCENES = 2;

/** Makes this many calls in total, and prefers the targets with the fewest results so far. Throws an error for the first call that breaks a rule. */
export async function campaign(calls: number, seed: number): Promise<Campaign> {
  const tallies = new Map<string, Tally>();
  const refused: string[] = [];
  let end: Pick<Campaign, 'unread' | 'never'> = { unread: [], never: [] };
  const madeIn = () => [...tallies.values()].reduce((sum, tally) => sum + tally.calls, 0);
  const scene = inRun(async (until: number) => {
    const opened = await openScene();
    const fuzz = fuzzOf(opened, tallies);
    for (let round = 0; madeIn() < until; round++) await oneRound(fuzz, until, seed + 7_919 * (madeIn() + round), madeIn);
    if (until === calls) await feed(fuzz);
    refused.push(...(await refusedRows(opened.app.store.reader)));
    end = {
      unread: fuzz.targets.flatMap((target) => fuzz.unread(target).map((field) => `${target.label} ${field}`)),
      never: fuzz.targets.flatMap(({ label }) => (tallies.get(label)?.ok ? [] : [`${label} (${tallies.get(label)?.refusal})`])),
    };
  });
  while (madeIn() < calls) await scene(Math.min(calls, madeIn() + CALLS_OF_A_SCENE));
  // A scene cannot always reach everything. For example, if Ana is private, no other caller can use her name. So other scenes are started for what is still
  // missing.
  for (let fresh = 0; fresh < FRESH_SCENES && end.unread.length + end.never.length > 0; fresh++) await scene(calls);
  return { calls: madeIn(), tallies, refused, ...end };

  /** Makes additional calls of the targets that the random choice has missed. */
  async function feed(fuzz: Fuzz): Promise<void> {
    for (const target of fuzz.targets)
      for (let more = 1; more <= MAX_MORE && isHungry(fuzz, target); more++) await fuzz.try(target, 'fit', 6, seed + 7_919 * more);
  }

  function isHungry(fuzz: Fuzz, target: Target): boolean {
    return !tallies.get(target.label)?.ok || fuzz.unread(target).length > 0;
  }

  async function openScene() {
    const opened = await openFuzzScene();
    await opened.renew();
    return opened;
  }

  async function oneRound(fuzz: Fuzz, until: number, at: number, made: () => number): Promise<void> {
    const first = made() < fuzz.targets.length;
    for (const [index, target] of shuffled(fuzz.targets, at).entries()) {
      if (made() >= until) return;
      const hungry = isHungry(fuzz, target);
      if (hungry) await fuzz.try(target, 'fit', first ? 3 : 5, at + index);
      if (first || !hungry) await fuzz.try(target, 'fine', 1, at + index);
      if (first || !hungry) await fuzz.try(target, 'broken', 1, at + index);
    }
  }
}

async function refusedRows(db: Db): Promise<string[]> {
  const found = new Set<string>();
  for (const [name, rule] of Object.entries(IMPORT_RULES) as [keyof RowRules, RowRules[keyof RowRules]][]) {
    for (const row of await (db as unknown as Kysely<Record<string, TransferRow>>).selectFrom(name).selectAll().execute()) {
      const verdict = rule(row, { now: Date.now(), agentTokenEnd: null, isAllowed: () => true });
      if ('wrong' in verdict) found.add(`${name}.${verdict.wrong} ${JSON.stringify(row)}`);
    }
  }
  return [...found];
}

/** Shuffles the targets. The same seed gives the same order. */
function shuffled(targets: readonly Target[], seed: number): Target[] {
  const rank = (label: string) => [...label].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0) + seed) % 1_000_003, 17);
  return targets.toSorted((one, other) => rank(one.label) - rank(other.label));
}
