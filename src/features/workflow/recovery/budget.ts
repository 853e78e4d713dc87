export interface Demand {
  /** The size at which nothing is left out. */
  readonly wants: number;
  readonly weight: number;
  /** Room that other demands do not need goes to demands that were cut. The demand with the lowest turn gets it first. */
  readonly turn: number;
}

/**
 * Each demand gets up to its share of the room, by weight. Unused room then goes to demands that were cut, in the order of their turns. Each
 * gets as much as it still wants. Never exceeds the room. Returns the room of each demand, in the order of `demands`.
 */
export function shareOut(room: number, demands: readonly Demand[]): number[] {
  const weights = demands.reduce((sum, { weight }) => sum + weight, 0);
  const given = demands.map(({ wants, weight }) => Math.min(wants, Math.floor((Math.max(0, room) * weight) / weights)));
  let left = Math.max(0, room) - given.reduce((sum, each) => sum + each, 0);
  const inTurn = [...demands.keys()].sort((a, b) => (demands[a] as Demand).turn - (demands[b] as Demand).turn);
  for (const index of inTurn) {
    const more = Math.min(left, (demands[index] as Demand).wants - (given[index] as number));
    given[index] = (given[index] as number) + more;
    left -= more;
  }
  return given;
}
