export interface Demand {
  /** The room that is needed so that nothing is left out. */
  readonly wants: number;
  readonly weight: number;
  /** Room that other demands do not need goes to demands that were cut. The demand with the lowest turn gets it first. */
  readonly turn: number;
}

/**
 * Divides the room among the demands. First, each demand gets a share by its weight, but not more than it wants. Room that is left then goes to
 * demands that want more, in the order of their turns. Returns the room of each demand, in the order of `demands`. The sum never exceeds the room.
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
