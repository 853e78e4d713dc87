/** What a client knows about a call that it made. `unknown` means that it received no answer. */
export type Fate = 'acknowledged' | 'refused' | 'unknown';

export interface Call {
  readonly tool: string;
  readonly fate: Fate;
  /** The error code. Set only if the call was refused. */
  readonly code: string | undefined;
  /** Names of rows and events. Each of them must exist exactly once if the call ran. No other call uses these names. */
  readonly effects: readonly string[];
}

const EXPECTED = { acknowledged: [1, 1], refused: [0, 0], unknown: [0, 1] } as const;

/**
 * Compares the answers that clients received with the rows and events in the store. `present` contains how often each effect was found. No other effects may
 * exist.
 */
export function effectProblems(calls: readonly Call[], present: ReadonlyMap<string, number>): string[] {
  const asked = new Set<string>();
  const problems = calls.flatMap((call) => {
    const found = call.effects.map((effect) => present.get(effect) ?? 0);
    for (const effect of call.effects) asked.add(effect);
    const [least, most] = EXPECTED[call.fate];
    const wrong = call.effects.flatMap((effect, at) => {
      const times = found[at] as number;
      return times < least || times > most ? [`${call.tool} was ${call.fate}, but ${effect} exists ${times} times`] : [];
    });
    const isTorn = wrong.length === 0 && new Set(found).size > 1;
    return isTorn ? [`${call.tool} was carried out in part: ${call.effects.map((effect, at) => `${effect} ${found[at]}`).join(', ')}`] : wrong;
  });
  const invented = [...present.keys()].filter((effect) => !asked.has(effect));
  return [...problems, ...invented.map((effect) => `${effect} exists, but no call made it`)];
}
