import { z } from 'zod';
import { contract, id, MEMBER_READ, READ, repositoryPath, text, title } from '../../kernel/contract.ts';
import { machineSchema } from './machine.ts';
import { HANDOFF_LISTS, payloadSchema } from './payload.ts';

/** The CLI reads the file of a repository by the same rules. */
export { FOLDER, NO_CONFIG, readConfig, withoutPsk } from './config.ts';

export const CYCLE_STATUSES = ['active', 'archived', 'cancelled'] as const;
export type CycleStatus = (typeof CYCLE_STATUSES)[number];

const repository = { repository_path: repositoryPath.optional() };

const feature = title.max(200).describe('What the cycle is about, in a few words.');
const mode = title.max(40);
const role = z.string().max(64);
const target = z.string().max(64).describe('The role that the handoff is for: codex or gemini, unless the repository has other roles.');
const lockToken = z.string().max(200).describe('The current lock token, from lock.acquire.');
const sessionToken = z.string().max(200).describe('Your role session, from session.open.');
const time = z.string().nullable();

/** Where the files in the repository could not be written: the store has it all, and the server tries again. */
const mirrored = { mirror_error: z.string().optional().describe('Why the files in .mcp-broker are behind; the server tries again.') };

/** Also where one stands in a call that does not take it: such a call is refused, and recorded all the same. */
const SECRETS = ['psk', 'session_token', 'lock_token'];
const TOOL = { toolset: 'cycle', placed: 'repository_path', secrets: SECRETS } as const;
const SESSION = { session_token: 'INVALID_SESSION' };
const TARGET = { target: 'INVALID_TARGET' };

export const sessionOpen = contract({
  name: 'session.open',
  ...TOOL,
  title: 'Open a role session',
  description: 'Shows with the PSK of .mcp-broker/config.json which role you have. Returns a session_token for the other calls; it is yours alone and expires.',
  input: z.strictObject({ role, psk: z.string().max(1_000).describe("The role's pre-shared key."), ...repository }),
  output: z.strictObject({ session_token: z.string(), role: z.string() }),
  inputCodes: { role: 'INVALID_ROLE' },
});

export const cycleStart = contract({
  name: 'cycle.start',
  ...TOOL,
  title: 'Start a cycle',
  description: 'Begins a feature in the first phase, with its role active and holding the lock. One cycle at a time in a repository.',
  input: z.strictObject({ feature, mode: mode.optional().describe('Default: the mode of config.json.'), ...repository }),
  output: z.strictObject({ cycle_id: z.string(), phase: z.string(), active_role: z.string(), lock_token: z.string(), ...mirrored }),
});

const lock = z.strictObject({ locked: z.boolean(), role: z.string().nullable() });

export const cycleStatus = contract({
  name: 'cycle.status',
  ...TOOL,
  title: 'Status of the cycle',
  description: 'Whose turn it is, in which phase, and which handoffs are there. All null while no cycle is active.',
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
  description: 'The current lock token, for a session of the active role. After each hand-over the token is another.',
  input: z.strictObject({ session_token: sessionToken, ...repository }),
  output: z.strictObject({ cycle_id: z.string(), role: z.string(), lock_token: z.string(), ...mirrored }),
  annotations: { idempotentHint: true },
  inputCodes: SESSION,
});

export const handoffRead = contract({
  name: 'handoff.read',
  ...TOOL,
  title: 'Read a handoff',
  description: 'What was last handed over to this role in the active cycle; {} where nothing was.',
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
    'Leaves a payload for the next role and gives it the turn: phase, active role and lock change with it, or nothing does. ' +
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
  description: 'Ends the work: in the default machine by gemini, in frontend_refine. The lock stays, for cycle.archive.',
  input: z.strictObject({ lock_token: lockToken, session_token: sessionToken, ...repository }),
  output: z.strictObject({ ok: z.literal(true), phase: z.string(), active_role: z.string(), ...mirrored }),
  inputCodes: SESSION,
});

export const cycleArchive = contract({
  name: 'cycle.archive',
  ...TOOL,
  title: 'Archive the cycle',
  description: 'Puts a complete cycle into .mcp-broker/archive/<cycle_id> and makes room for the next one.',
  input: z.strictObject({ lock_token: lockToken, session_token: sessionToken, ...repository }),
  output: z.strictObject({ ok: z.literal(true), archived_at: z.string(), cycle_id: z.string(), ...mirrored }),
  inputCodes: SESSION,
});

/** For people: everything but tokens and PSKs. */
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
  reworks: z.int().describe('How often the turn went back to an earlier phase.'),
  started_by: z.string(),
  created_at: z.int(),
  updated_at: z.int(),
  completed_at: z.int().nullable(),
  ended_at: z.int().nullable(),
  ended_by: z.string().nullable(),
  reason: z.string().nullable().describe('Why it was cancelled.'),
  archive: z.string().nullable().describe('The folder of its archive.'),
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

/** As far as a column of its kind can count. */
const handoffNumber = z.int().min(1).max(2_147_483_647);

export const handoffView = z.strictObject({ number: z.int(), producer: z.string(), target: z.string(), created_at: z.int(), payload: z.looseObject({}) });

export const cyclesList = contract({
  name: 'cycles.list',
  ...MEMBER_READ,
  title: 'Cycles',
  description: 'The cycles of the workspace, or of one repository, the newest first.',
  input: z.strictObject({
    ...repository,
    repo: z.string().min(1).max(300).optional().describe('What people call the repository.'),
    status: z.array(z.enum(CYCLE_STATUSES)).min(1).max(3).optional(),
    limit: z.int().min(1).max(500).default(50),
    offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({ items: z.array(cycleView), total: z.int() }),
});

export const cyclesShow = contract({
  name: 'cycles.show',
  ...MEMBER_READ,
  title: 'A cycle',
  description: 'A cycle by its id, or the active one of a repository: its machine, its last handoffs, and the sessions of its roles. Null while idle.',
  input: z.strictObject({
    id: id.optional(),
    ...repository,
    handoffs: z.int().min(0).max(20).default(20).describe('How many of its last handoffs, in full: each may be long.'),
  }),
  output: z.strictObject({
    repository: z.string(),
    cycle: cycleView.nullable(),
    machine: machineSchema,
    taken: z.array(z.int()).describe('How often each transition of the machine was made.'),
    handoffs: z.array(handoffView).describe('The last ones, and the latest for each role.'),
    handoffs_total: z.int(),
    sessions: z.array(sessionView),
    config_error: z.string().nullable().describe('What is wrong with config.json.'),
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
  title: 'Handoffs of a cycle',
  description: 'What was handed over in a cycle, the last first: by whom, for whom, and how much of what.',
  input: z.strictObject({ id, before: handoffNumber.optional().describe('Only those with a lower number.'), limit: z.int().min(1).max(50).default(20) }),
  output: z.strictObject({ items: z.array(handoffSummary), total: z.int() }),
});

export const cyclesHandoff = contract({
  name: 'cycles.handoff',
  ...MEMBER_READ,
  title: 'A handoff',
  description: 'A handoff in full, with the one before it that was for the same role.',
  input: z.strictObject({ id, number: handoffNumber }),
  output: z.strictObject({ handoff: handoffView, previous: handoffView.nullable() }),
});

export const cyclesStart = contract({
  name: 'cycles.start',
  toolset: 'admin',
  title: 'Start a cycle',
  description: 'As cycle.start does; the active role gets its token by lock.acquire.',
  input: z.strictObject({ feature, mode: mode.optional(), ...repository }),
  output: z.strictObject({ cycle: cycleView, ...mirrored }),
});

export const cyclesComplete = contract({
  name: 'cycles.complete',
  toolset: 'admin',
  title: 'Complete a cycle',
  description: 'Completes a cycle in the place of its role: by its id, or the active one of a repository.',
  input: z.strictObject({ id: id.optional(), ...repository }),
  output: z.strictObject({ cycle: cycleView, ...mirrored }),
});

export const cyclesArchive = contract({
  name: 'cycles.archive',
  toolset: 'admin',
  title: 'Archive a cycle',
  description: 'Archives a complete cycle in the place of its role: by its id, or the active one of a repository.',
  input: z.strictObject({ id: id.optional(), ...repository }),
  output: z.strictObject({ cycle: cycleView, ...mirrored }),
});

export const cyclesCancel = contract({
  name: 'cycles.cancel',
  toolset: 'admin',
  title: 'Cancel a cycle',
  description: 'Ends an active cycle in whatever phase it is; its handoffs stay in the history. By its id, or the active one of a repository.',
  input: z.strictObject({ id: id.optional(), ...repository, reason: text(500) }),
  output: z.strictObject({ cycle: cycleView, ...mirrored }),
  annotations: { destructiveHint: true },
});

export const cyclesSessions = contract({
  name: 'cycles.sessions',
  ...MEMBER_READ,
  title: 'Role sessions',
  description: 'The role sessions of the workspace, or of one repository, the newest first.',
  input: z.strictObject(repository),
  output: z.strictObject({ items: z.array(sessionView) }),
});

export const cyclesCloseSession = contract({
  name: 'cycles.close_session',
  toolset: 'admin',
  title: 'Close a role session',
  description: 'Its token is refused from then on.',
  input: z.strictObject({ session_id: id }),
  output: sessionView,
  annotations: { destructiveHint: true, idempotentHint: true },
});
