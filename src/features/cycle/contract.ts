import { z } from 'zod';
import { contract, id, MEMBER_READ, READ, repositoryPath, text, title } from '../../kernel/contract.ts';
import { machineSchema } from './machine.ts';
import { HANDOFF_LISTS, payloadSchema } from './payload.ts';

/** Exported for the CLI, so that it reads the file of a repository with the same rules. */
export { FOLDER, NO_CONFIG, readConfig, withoutPsk } from './config.ts';

export const CYCLE_STATUSES = ['active', 'archived', 'cancelled'] as const;
export type CycleStatus = (typeof CYCLE_STATUSES)[number];

const repository = { repository_path: repositoryPath.optional() };

const feature = title.max(200).describe('Feature of the cycle, in a few words.');
const mode = title.max(40);
const role = z.string().max(64);
const target = z.string().max(64).describe('Role to hand over to: codex or gemini, unless the repository defines other roles.');
const lockToken = z.string().max(200).describe('Current lock token, from lock.acquire.');
const sessionToken = z.string().max(200).describe('Your session_token, from session.open.');
const time = z.string().nullable();

/** Set if the files in the repository could not be written. The change itself is stored, and the server tries to write the files again. */
const mirrored = { mirror_error: z.string().optional().describe('Why the files in .mcp-broker are behind; the server retries.') };

/** These fields are redacted in all calls, even if the call does not accept them: refused calls are recorded too. */
const SECRETS = ['psk', 'session_token', 'lock_token'];
const TOOL = { toolset: 'cycle', placed: 'repository_path', secrets: SECRETS } as const;
const SESSION = { session_token: 'INVALID_SESSION' };
const TARGET = { target: 'INVALID_TARGET' };

export const sessionOpen = contract({
  name: 'session.open',
  ...TOOL,
  title: 'Open a role session',
  description: 'Prove your role with its PSK from .mcp-broker/config.json. Returns a session_token for the other calls; only you can use it until it expires.',
  input: z.strictObject({ role, psk: z.string().max(1_000).describe('Pre-shared key of the role.'), ...repository }),
  output: z.strictObject({ session_token: z.string(), role: z.string() }),
  inputCodes: { role: 'INVALID_ROLE' },
});

export const cycleStart = contract({
  name: 'cycle.start',
  ...TOOL,
  title: 'Start a cycle',
  description: 'Start a feature in the first phase; its role is active and holds the lock. One active cycle per repository.',
  input: z.strictObject({ feature, mode: mode.optional().describe('Default: mode of config.json.'), ...repository }),
  output: z.strictObject({ cycle_id: z.string(), phase: z.string(), active_role: z.string(), lock_token: z.string(), ...mirrored }),
});

const lock = z.strictObject({ locked: z.boolean(), role: z.string().nullable() });

export const cycleStatus = contract({
  name: 'cycle.status',
  ...TOOL,
  title: 'Status of the cycle',
  description: 'Show the active role, phase and available handoffs. All null while no cycle is active.',
  input: z.strictObject(repository),
  output: z.strictObject({
    cycle_id: z.string().nullable(),
    feature: z.string().nullable(),
    phase: z.string().nullable(),
    active_role: z.string().nullable(),
    mode: z.string(),
    handoffs: z.record(z.string(), z.strictObject({ status: z.enum(['present', 'empty']), updated_at: time })),
    lock,
    ...mirrored,
  }),
  annotations: READ,
});

export const lockAcquire = contract({
  name: 'lock.acquire',
  ...TOOL,
  title: 'Acquire the lock',
  description: 'Get the current lock token with a session of the active role. It changes with every hand-over.',
  input: z.strictObject({ session_token: sessionToken, ...repository }),
  output: z.strictObject({ cycle_id: z.string(), role: z.string(), lock_token: z.string(), ...mirrored }),
  annotations: { idempotentHint: true },
  inputCodes: SESSION,
});

export const handoffRead = contract({
  name: 'handoff.read',
  ...TOOL,
  title: 'Read a handoff',
  description: 'Read the latest handoff to this role in the active cycle; {} if there is none.',
  input: z.strictObject({ target, ...repository }),
  output: z.looseObject({}),
  annotations: READ,
  inputCodes: TARGET,
});

export const handoffWrite = contract({
  name: 'handoff.write',
  essential: true,
  ...TOOL,
  title: 'Hand over',
  description:
    'Leave a payload for the next role and pass it the turn: phase, active role and lock change together, or nothing does. ' +
    'In the default machine gemini hands over to codex (frontend, frontend_refine), and codex to gemini (backend).',
  input: z.strictObject({ target, payload: z.unknown().meta(payloadSchema), lock_token: lockToken, session_token: sessionToken, ...repository }),
  output: z.strictObject({ ok: z.literal(true), phase: z.string(), active_role: z.string(), next_step: z.string(), ...mirrored }),
  inputCodes: { ...SESSION, ...TARGET },
});

export const cycleComplete = contract({
  name: 'cycle.complete',
  essential: true,
  ...TOOL,
  title: 'Complete the cycle',
  description: 'Finish the work; in the default machine gemini does so in frontend_refine. The lock stays for cycle.archive.',
  input: z.strictObject({ lock_token: lockToken, session_token: sessionToken, ...repository }),
  output: z.strictObject({ ok: z.literal(true), phase: z.string(), active_role: z.string(), ...mirrored }),
  inputCodes: SESSION,
});

export const cycleArchive = contract({
  name: 'cycle.archive',
  ...TOOL,
  title: 'Archive the cycle',
  description: 'Move a complete cycle to .mcp-broker/archive/<cycle_id>, so that the next one can start.',
  input: z.strictObject({ lock_token: lockToken, session_token: sessionToken, ...repository }),
  output: z.strictObject({ ok: z.literal(true), archived_at: z.string(), cycle_id: z.string(), ...mirrored }),
  inputCodes: SESSION,
});

/** A cycle as people see it: everything except tokens and PSKs. */
export const cycleView = z.strictObject({
  id: z.string(),
  cycle_id: z.string(),
  repository: z.string(),
  feature: z.string(),
  mode: z.string(),
  status: z.enum(CYCLE_STATUSES),
  phase: z.string(),
  active_role: z.string(),
  lock_role: z.string(),
  lock_acquired_at: z.int(),
  reworks: z.int().describe('Number of returns to an earlier phase.'),
  started_by: z.string(),
  created_at: z.int(),
  updated_at: z.int(),
  completed_at: z.int().nullable(),
  ended_at: z.int().nullable(),
  ended_by: z.string().nullable(),
  reason: z.string().nullable().describe('Reason of the cancellation.'),
  archive: z.string().nullable().describe('Folder of its archive.'),
});

export const sessionView = z.strictObject({
  session_id: z.string(),
  repository: z.string(),
  role: z.string(),
  status: z.enum(['open', 'closed', 'expired']),
  actor: z.string(),
  created_at: z.int(),
  last_seen: z.int(),
  expires_at: z.int(),
  closed_at: z.int().nullable(),
  closed_by: z.string().nullable(),
});

/** The upper limit is the largest number that an integer column can store. */
const handoffNumber = z.int().min(1).max(2_147_483_647);

export const handoffView = z.strictObject({ number: z.int(), producer: z.string(), target: z.string(), created_at: z.int(), payload: z.looseObject({}) });

export const cyclesList = contract({
  name: 'cycles.list',
  ...MEMBER_READ,
  title: 'List cycles',
  description: 'List the cycles of the workspace, or of one repository, newest first.',
  input: z.strictObject({
    ...repository,
    repo: z.string().min(1).max(300).optional().describe('Name that the team uses for the repository.'),
    status: z.array(z.enum(CYCLE_STATUSES)).min(1).max(3).optional(),
    limit: z.int().min(1).max(500).default(50),
    offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({ items: z.array(cycleView), total: z.int() }),
});

export const cyclesShow = contract({
  name: 'cycles.show',
  ...MEMBER_READ,
  title: 'Show a cycle',
  description: 'Show a cycle by id, or the active one of a repository: its machine, last handoffs and role sessions. Null while idle.',
  input: z.strictObject({
    id: id.optional(),
    ...repository,
    handoffs: z.int().min(0).max(20).default(20).describe('How many of the last handoffs to show in full; each may be long.'),
  }),
  output: z.strictObject({
    repository: z.string(),
    cycle: cycleView.nullable(),
    machine: machineSchema,
    taken: z.array(z.int()).describe('How often each transition of the machine was made.'),
    handoffs: z.array(handoffView).describe('The last handoffs, and the latest handoff for each role.'),
    handoffs_total: z.int(),
    sessions: z.array(sessionView),
    config_error: z.string().nullable().describe('Fault of config.json.'),
  }),
});

const handoffSummary = z.strictObject({
  number: z.int(),
  producer: z.string(),
  target: z.string(),
  created_at: z.int(),
  counts: z.record(z.enum(HANDOFF_LISTS), z.int()),
});

export const cyclesHandoffs = contract({
  name: 'cycles.handoffs',
  ...MEMBER_READ,
  title: 'List handoffs of a cycle',
  description: 'List the handoffs of a cycle, newest first, with producer, target and item counts.',
  input: z.strictObject({ id, before: handoffNumber.optional().describe('Only handoffs with a lower number.'), limit: z.int().min(1).max(50).default(20) }),
  output: z.strictObject({ items: z.array(handoffSummary), total: z.int() }),
});

export const cyclesHandoff = contract({
  name: 'cycles.handoff',
  ...MEMBER_READ,
  title: 'Show a handoff',
  description: 'Show a handoff in full, with the previous one for the same role.',
  input: z.strictObject({ id, number: handoffNumber }),
  output: z.strictObject({ handoff: handoffView, previous: handoffView.nullable() }),
});

export const cyclesStart = contract({
  name: 'cycles.start',
  toolset: 'admin',
  title: 'Start a cycle',
  description: 'Start a cycle like cycle.start. The active role gets its lock token with lock.acquire.',
  input: z.strictObject({ feature, mode: mode.optional(), ...repository }),
  output: z.strictObject({ cycle: cycleView, ...mirrored }),
});

export const cyclesComplete = contract({
  name: 'cycles.complete',
  toolset: 'admin',
  title: 'Complete a cycle',
  description: 'Complete a cycle on behalf of its active role. Name the cycle by id, or its repository.',
  input: z.strictObject({ id: id.optional(), ...repository }),
  output: z.strictObject({ cycle: cycleView, ...mirrored }),
});

export const cyclesArchive = contract({
  name: 'cycles.archive',
  toolset: 'admin',
  title: 'Archive a cycle',
  description: 'Archive a complete cycle on behalf of its role: by id, or the active one of a repository.',
  input: z.strictObject({ id: id.optional(), ...repository }),
  output: z.strictObject({ cycle: cycleView, ...mirrored }),
});

export const cyclesCancel = contract({
  name: 'cycles.cancel',
  toolset: 'admin',
  title: 'Cancel a cycle',
  description: 'End an active cycle in any phase; its handoffs stay in the history. By id, or the active one of a repository.',
  input: z.strictObject({ id: id.optional(), ...repository, reason: text(500) }),
  output: z.strictObject({ cycle: cycleView, ...mirrored }),
  annotations: { destructiveHint: true },
});

export const cyclesSessions = contract({
  name: 'cycles.sessions',
  ...MEMBER_READ,
  title: 'List role sessions',
  description: 'List the role sessions of the workspace, or of one repository, newest first.',
  input: z.strictObject(repository),
  output: z.strictObject({ items: z.array(sessionView) }),
});

export const cyclesCloseSession = contract({
  name: 'cycles.close_session',
  toolset: 'admin',
  title: 'Close a role session',
  description: 'Invalidate the session token.',
  input: z.strictObject({ session_id: id }),
  output: sessionView,
  annotations: { destructiveHint: true, idempotentHint: true },
});
