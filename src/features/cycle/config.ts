import { z } from 'zod';
import { title } from '../../kernel/contract.ts';
import { beginning } from '../../kernel/excerpt.ts';
import { type CycleMachine, faultsOf, GEMINI_AND_CODEX } from './machine.ts';

export const FOLDER = '.mcp-broker';
/** Written in place of a secret. */
export const REDACTED = '[redacted]';

const DEFAULT_TTL_HOURS = 12;
const MAX_TTL_HOURS = 24 * 366;
const MAX_PHASES = 64;

const name = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/i, { error: 'expected a name of up to 32 letters, digits, "_" and "-"' });

/** The phases with their roles, in the order of the file. A role is a name or an object. */
const phases = z
  .record(name, z.union([name, z.strictObject({ role: name })]))
  .refine((given) => Object.keys(given).length <= MAX_PHASES, { error: `expected at most ${MAX_PHASES} phases` });

const document = z.strictObject({
  version: z.string().max(20).optional(),
  mode: title.max(40).optional(),
  validation: z.literal('basic', { error: 'only "basic" is supported' }).optional(),
  storage_path: z.literal(FOLDER, { error: `only "${FOLDER}" is supported` }).optional(),
  agents: z.record(name, z.strictObject({ psk: z.string().max(1_000) })).optional(),
  session_ttl_hours: z.number().positive().max(MAX_TTL_HOURS).optional(),
  roles: z.array(name).min(1).max(16).optional(),
  phases: phases.optional(),
  transitions: z
    .array(z.strictObject({ from: name, to: name, target: name.optional() }))
    .max(256)
    .optional(),
  final: name.optional(),
});

/** How a repository configures its cycles. */
export interface CycleConfig {
  readonly machine: CycleMachine;
  readonly mode: string;
  readonly sessionTtlMs: number;
  /** The PSK of each role. PSKs are never shown, stored or written to the journal. */
  readonly psks: ReadonlyMap<string, string>;
  /** The content of the file with redacted PSKs. Only this form may be stored. */
  readonly shown: Record<string, unknown>;
}

/** The configuration of a repository without a file: the default machine and no PSKs. Calls that need a PSK then fail. */
export const NO_CONFIG: CycleConfig = { machine: GEMINI_AND_CODEX, mode: 'approval', sessionTtlMs: DEFAULT_TTL_HOURS * 3_600_000, psks: new Map(), shown: {} };

/** A report of an invalid file contains at most this many faults, and each fault has at most this many characters. */
const MAX_FAULTS = 10;
const LONGEST_FAULT = 200;
const faulty = (all: readonly string[]) => ({ faults: all.slice(0, MAX_FAULTS).map((fault) => beginning(fault, LONGEST_FAULT)) });

export type ReadConfig = { readonly config: CycleConfig } | { readonly faults: readonly string[] };

/** Parses the text of `config.json`. Faults show the key that is wrong, and never a value of `agents`, because it may be a PSK. */
export function readConfig(text: string): ReadConfig {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { faults: ['not valid JSON'] };
  }
  const parsed = document.safeParse(json);
  if (!parsed.success) return faulty(parsed.error.issues.map(faultOf));
  const { mode = NO_CONFIG.mode, session_ttl_hours, agents = {}, roles, phases, transitions, final } = parsed.data;
  const own = [roles, phases, transitions, final].filter((part) => part !== undefined).length;
  if (own !== 0 && own !== 4) return { faults: ['roles, phases, transitions and final must be set together or not at all'] };
  const machine: CycleMachine =
    roles && phases && transitions && final
      ? {
          roles,
          phases: Object.entries(phases).map(([phase, role]) => ({ name: phase, role: typeof role === 'string' ? role : role.role })),
          transitions,
          final,
        }
      : GEMINI_AND_CODEX;
  const faults = faultsOf(machine);
  if (faults.length > 0) return faulty(faults);
  const psks = new Map(machine.roles.flatMap((role) => (agents[role]?.psk ? [[role, agents[role].psk] as const] : [])));
  const sessionTtlMs = session_ttl_hours === undefined ? NO_CONFIG.sessionTtlMs : Math.round(session_ttl_hours * 3_600_000);
  return {
    config: {
      machine,
      mode,
      sessionTtlMs,
      psks,
      shown: { ...parsed.data, agents: Object.fromEntries(Object.keys(agents).map((role) => [role, { psk: REDACTED }])) },
    },
  };
}

/** The roles without a PSK. Nobody can open a session for them. */
export const withoutPsk = ({ machine, psks }: CycleConfig): string[] => machine.roles.filter((role) => !psks.has(role));

function faultOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `${[...issue.path, issue.keys[0]].join('.')}: unknown key`;
  return `${issue.path.join('.') || 'the file'}: ${issue.message}`;
}
