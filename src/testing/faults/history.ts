/** What a client knows of a call that it made: it was answered with success, or with a refusal, or nobody knows. */
export type Fate = 'acknowledged' | 'refused' | 'unknown';

export interface Call {
  readonly tool: string;
  readonly fate: Fate;
  /** Of a refusal. */
  readonly code: string | undefined;
  /** What is there, once, if the call was carried out: a row or an event, by a name that no other call has. */
  readonly effects: readonly string[];
}

const EXPECTED = { acknowledged: [1, 1], refused: [0, 0], unknown: [0, 1] } as const;

/**
 * Holds what clients were told against what is there. `present`: how often each effect was found. Effects that no call has a
 * name for were made by nobody who was asked to.
 */
export function effectProblems(calls: readonly Call[], present: ReadonlyMap<string, number>): string[] {
  const asked = new Set<string>();
  const problems = calls.flatMap((call) => {
    const found = call.effects.map((effect) => present.get(effect) ?? 0);
    for (const effect of call.effects) asked.add(effect);
    const [least, most] = EXPECTED[call.fate];
    const wrong = call.effects.flatMap((effect, at) => {
      const times = found[at] as number;
      return times < least || times > most ? [`${call.tool} was ${call.fate}, and ${effect} is there ${times} times`] : [];
    });
    const isTorn = wrong.length === 0 && new Set(found).size > 1;
    return isTorn ? [`${call.tool} was carried out in part: ${call.effects.map((effect, at) => `${effect} ${found[at]}`).join(', ')}`] : wrong;
  });
  const invented = [...present.keys()].filter((effect) => !asked.has(effect));
  return [...problems, ...invented.map((effect) => `${effect} is there, and nobody asked for it`)];
}
