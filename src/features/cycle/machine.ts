import { z } from 'zod';

/** The phases of a cycle, their roles, and the transitions between the phases. A repository may define its own machine in its config. */
export interface CycleMachine {
  readonly roles: readonly string[];
  /** The phases in their order. A cycle starts in the first phase. */
  readonly phases: readonly Phase[];
  readonly transitions: readonly Transition[];
  /** The last phase. `cycle.complete` leads to it, and only in this phase a cycle can be archived. */
  readonly final: string;
}

export interface Phase {
  readonly name: string;
  /** The role that may write in this phase. */
  readonly role: string;
}

export interface Transition {
  readonly from: string;
  readonly to: string;
  /** A handoff to this role causes the transition. A transition without a target is caused by `cycle.complete`. */
  readonly target?: string | undefined;
}

/** The form in which a machine is stored with its cycle. */
export const machineSchema = z.strictObject({
  roles: z.array(z.string()).readonly(),
  phases: z.array(z.strictObject({ name: z.string(), role: z.string() })).readonly(),
  transitions: z.array(z.strictObject({ from: z.string(), to: z.string(), target: z.string().optional() })).readonly(),
  final: z.string(),
});

export const GEMINI_AND_CODEX: CycleMachine = {
  roles: ['gemini', 'codex'],
  phases: [
    { name: 'frontend', role: 'gemini' },
    { name: 'backend', role: 'codex' },
    { name: 'frontend_refine', role: 'gemini' },
    { name: 'complete', role: 'gemini' },
  ],
  transitions: [
    { from: 'frontend', target: 'codex', to: 'backend' },
    { from: 'backend', target: 'gemini', to: 'frontend_refine' },
    { from: 'frontend_refine', target: 'codex', to: 'backend' },
    { from: 'frontend_refine', to: 'complete' },
  ],
  final: 'complete',
};

export const phaseNamed = (machine: CycleMachine, name: string): Phase | undefined => machine.phases.find((phase) => phase.name === name);

export const firstPhase = (machine: CycleMachine): Phase => machine.phases[0] as Phase;

/** Whether the transition is rework, which means that it leads to the same or an earlier phase in the order of the machine. */
export function leadsBack(machine: CycleMachine, from: string, to: string): boolean {
  const names = machine.phases.map(({ name }) => name);
  return names.indexOf(to) <= names.indexOf(from);
}

/** The next phase if the role of this phase hands over to `target`. Undefined if this handoff is not allowed. */
export function afterHandoff(machine: CycleMachine, phase: string, target: string): Phase | undefined {
  const transition = machine.transitions.find(({ from, target: to }) => from === phase && to === target);
  return transition && phaseNamed(machine, transition.to);
}

/** The next phase if `cycle.complete` is called in this phase. Undefined if the call is not allowed. */
export function afterCompletion(machine: CycleMachine, phase: string): Phase | undefined {
  const transition = machine.transitions.find(({ from, target }) => from === phase && target === undefined);
  return transition && phaseNamed(machine, transition.to);
}

/** Counts how often each transition was made. `targets` contains the targets of the cycle's handoffs in order. */
export function timesTaken(machine: CycleMachine, targets: readonly string[], completed: boolean): number[] {
  const taken = machine.transitions.map(() => 0);
  let phase = firstPhase(machine).name;
  for (const target of [...targets, ...(completed ? [undefined] : [])]) {
    const index = machine.transitions.findIndex((transition) => transition.from === phase && transition.target === target);
    const transition = machine.transitions[index];
    if (!transition) break;
    taken[index] = (taken[index] ?? 0) + 1;
    phase = transition.to;
  }
  return taken;
}

/** The roles that can hand over to `target`. In the default machine, this is always the other role. */
export function producersFor(machine: CycleMachine, target: string): ReadonlySet<string> {
  const phases = machine.transitions.filter((transition) => transition.target === target).map(({ from }) => phaseNamed(machine, from)?.role);
  return new Set(phases.filter((role) => role !== undefined));
}

/** Lists the faults of a machine. Each fault says which part is wrong. The list is empty if the machine is valid. */
export function faultsOf(machine: CycleMachine): string[] {
  const faults: string[] = [];
  const names = machine.phases.map(({ name }) => name);
  const known = new Set(names);
  const roles = new Set(machine.roles);
  // Names are compared in lower case, because roles that differ only in case would share one file on some systems.
  for (const twice of repeated(machine.roles.map((role) => role.toLowerCase()))) faults.push(`the role ${twice} occurs twice`);
  for (const twice of repeated(names)) faults.push(`the phase ${twice} occurs twice`);
  for (const { name, role } of machine.phases) if (!roles.has(role)) faults.push(`the phase ${name} has the unknown role ${role}`);
  if (!known.has(machine.final)) faults.push(`the final phase ${machine.final} does not exist`);
  for (const { from, to, target } of machine.transitions) {
    for (const phase of [from, to]) if (!known.has(phase)) faults.push(`a transition refers to the unknown phase ${phase}`);
    if (from === machine.final) faults.push(`a transition leads out of the final phase ${from}`);
    if (target === undefined && to !== machine.final)
      faults.push(`the transition from ${from} to ${to} has no target; only transitions to the final phase may omit it`);
    if (target !== undefined && to === machine.final) faults.push(`a handoff to ${target} leads to the final phase ${to}, but only cycle.complete may`);
    if (target !== undefined && !roles.has(target)) faults.push(`a transition has the unknown target ${target}`);
    const turn = phaseNamed(machine, to)?.role;
    if (target !== undefined && turn !== undefined && turn !== target) faults.push(`a handoff to ${target} leads to the phase ${to}, whose role is ${turn}`);
  }
  for (const twice of repeated(machine.transitions.map(({ from, target }) => `${from} ${target ?? '(complete)'}`)))
    faults.push(`two transitions of ${twice} lead to different phases`);
  if (faults.length > 0) return faults;
  const ways = machine.transitions.map(({ from, to }) => [from, to] as const);
  const reached = reachable(firstPhase(machine).name, ways);
  const waysBack = ways.map(([from, to]) => [to, from] as const);
  const ending = reachable(machine.final, waysBack);
  for (const name of names) {
    if (!reached.has(name)) faults.push(`the ${name === machine.final ? 'final phase' : 'phase'} ${name} cannot be reached`);
    else if (reached.has(machine.final) && !ending.has(name)) faults.push(`the phase ${name} is a dead end: ${machine.final} cannot be reached from it`);
  }
  return faults;
}

function reachable(start: string, ways: readonly (readonly [from: string, to: string])[]): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const phase of reached) for (const [from, to] of ways) if (from === phase) reached.add(to);
  return reached;
}

const repeated = (names: readonly string[]): Set<string> => new Set(names.filter((name, index) => names.indexOf(name) !== index));
