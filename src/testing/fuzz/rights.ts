import type { Principal } from '../../kernel/call.ts';
import type { ParsedAnswer } from './answers.ts';
import type { Change, Row, Table } from './captured.ts';
import { ownerOf } from './owners.ts';
import { type Caller, ELSEWHERE, type FuzzScene } from './scene.ts';
import type { Target } from './targets.ts';

export interface MadeCall {
  readonly target: Target;
  readonly caller: Caller;
  /** The workspace that the call acts on. It is the caller's own, unless the operator has chosen another one. */
  readonly workspace: string;
  readonly told: ParsedAnswer;
  readonly changes: readonly Change[];
}

interface Effect {
  readonly calls: RegExp;
  readonly table: Table;
  /** The only columns that may change. Without this list, rows may also be inserted and deleted. */
  readonly columns?: readonly string[];
  readonly reason: string;
}

const RECEIPTS = ['delivered_at', 'read_at', 'answer_delivered_at', 'status', 'archived_at', 'answered_at'];

/** What a call may do to rows of another developer. With `addressee`, it may do so only if the row is addressed to the caller. */
const ACROSS: readonly (Effect & { addressee?: true })[] = [
  {
    calls: /^(workflow|task|template)_|^agent_(unregister|update)$/,
    table: 'overlap_items',
    reason: "a step is shown as its holder's work, or its workflow owner's if nobody holds it",
  },
  { calls: /^covibe_|^hooks\.hear$/, table: 'asks', columns: RECEIPTS, addressee: true, reason: 'an ask is delivered with any call of its addressee' },
  {
    calls: /^covibe_coordination\.reply$|^messages\.answer$/,
    table: 'asks',
    columns: [...RECEIPTS, 'answer'],
    addressee: true,
    reason: 'its addressee answers',
  },
  {
    calls: /^covibe_coordination\.accept_handoff$/,
    table: 'handoffs',
    columns: ['status', 'accepted_at', 'taken_task_ids', 'taken_claim_ids'],
    addressee: true,
    reason: 'its recipient accepts it',
  },
  { calls: /^covibe_coordination\.accept_handoff$/, table: 'tasks', reason: 'the receiver owns what was handed over' },
  {
    calls: /^covibe_coordination\.accept_handoff$/,
    table: 'workstreams',
    columns: ['status', 'result_summary', 'updated_at', 'closed_at'],
    reason: 'a container created for a task completes itself when the task is handed over',
  },
  { calls: /^covibe_coordination\.accept_handoff$/, table: 'claims', reason: 'the receiver owns what was handed over' },
  { calls: /^covibe_coordination\.accept_handoff$/, table: 'overlap_items', reason: 'the receiver owns what was handed over' },
  { calls: /^covibe_coordination\.accept_handoff$/, table: 'file_marks', reason: 'the receiver owns what was handed over' },
  {
    calls: /^covibe_coordination\.|^claims\.|^covibe_session\./,
    table: 'claims',
    columns: ['expired_at'],
    reason: 'any call marks expired claims that it finds',
  },
  { calls: /^covibe_coordination\.|^claims\.|^covibe_session\./, table: 'file_marks', reason: 'the files of an expired claim are free' },
  { calls: /^message_|^hooks\.hear$/, table: 'messages', columns: RECEIPTS, addressee: true, reason: 'its recipient has received it' },
  { calls: /^message_send$/, table: 'messages', columns: RECEIPTS, addressee: true, reason: 'an answer settles the question' },
  {
    calls: /^(messages|questions)\.answer$/,
    table: 'workflow_tasks',
    columns: ['status', 'question_id', 'resume_status', 'last_checkpoint', 'updated_at'],
    reason: 'the step that asked continues',
  },
  { calls: /^(messages|questions)\.answer$/, table: 'overlap_items', reason: 'the step that asked continues' },
  { calls: /^workflow_(update_status|remove_task)$/, table: 'workflow_tasks', reason: 'plans belong to the team: ending a workflow releases its steps' },
  {
    calls: /^workflow_(update_status|remove_task)$/,
    table: 'agents',
    columns: ['status', 'current_task_id', 'updated_at'],
    reason: 'the holder of such a step is free',
  },
  { calls: /^(messages|questions)\.answer$/, table: 'messages', columns: RECEIPTS, addressee: true, reason: 'people answer questions to people' },
];

/** What a call may write even if it is refused. */
const AFTER_REFUSAL: readonly Effect[] = [
  { calls: /./, table: 'grants', columns: ['uses', 'revision', 'recent'], reason: 'a call counts against its grant whatever its result' },
  { calls: /^approvals\./, table: 'approvals', columns: ['status', 'used_at'], reason: 'the waiting call continues by itself' },
  { calls: /^request_review$/, table: 'instances', reason: 'a request beyond the limit counts as a failed review, and the last one ends the instance' },
];

/** What a read-only call may write. */
const AFTER_READING: readonly Effect[] = [];

/** What every call may write, because the server records the call and that the caller is present. */
const RECORD: readonly Effect[] = [
  { calls: /./, table: 'events', reason: 'the journal' },
  { calls: /./, table: 'journal_heads', reason: 'the journal' },
  { calls: /./, table: 'tokens', columns: ['last_used_at', 'expires_at'], reason: 'the last use of a token, which extends a dashboard session' },
];

/** Returns a description of each change that the call had no right to make. */
export function transgressions(scene: FuzzScene, made: MadeCall): string[] {
  return made.changes.flatMap((change) => {
    const problem = outside(made, change) ?? rewritten(made, change) ?? stray(scene, made, change) ?? unexpected(made, change) ?? foreign(scene, made, change);
    return problem ? [`${problem}: ${shown(change)}`] : [];
  });
}

const rowOf = ({ before, after }: Change): Row => (before ?? after) as Row;

function outside({ workspace, target, caller }: MadeCall, change: Change): string | undefined {
  // During this call, the server may still write when the previous call used its token.
  if (change.table === 'tokens' && allows(RECORD, target, change)) return undefined;
  // If the workspace of a call does not exist, the call is recorded in the caller's workspace.
  if (rowOf(change).workspace_id === caller.principal.workspace && allows(RECORD, target, change)) return undefined;
  const place = change.table === 'workspaces' ? rowOf(change).id : (rowOf(change).workspace_id ?? workspace);
  return place === workspace ? undefined : `written in the workspace ${place}`;
}

/** Reports a change to an event. Events must never change, and only a prune may delete them. */
function rewritten({ target }: MadeCall, { table, before, after }: Change): string | undefined {
  if (table !== 'events' || !before || (!after && target.label === 'journal.prune')) return undefined;
  return 'the journal was changed';
}

const ID = /^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$/;
const LISTS = /_ids$/;
/** Columns that only repeat what an author has written. The server never uses them to look up rows. */
const ONLY_SAID = ['session_contexts.task_ids'];

/** Reports a row that refers to a row in another workspace. */
function stray(scene: FuzzScene, { workspace }: MadeCall, { table, after }: Change): string | undefined {
  if (!after || workspace === ELSEWHERE || after.workspace_id === ELSEWHERE || table === 'events') return undefined;
  for (const [column, value] of Object.entries(after)) {
    if (ONLY_SAID.includes(`${table}.${column}`)) continue;
    const ids = LISTS.test(column) && typeof value === 'string' && value.startsWith('[') ? (JSON.parse(value) as unknown[]) : [value];
    const far = ids.find((id) => typeof id === 'string' && ID.test(id) && scene.foreign(id));
    if (far) return `${column} refers to ${far} of another workspace`;
  }
  return undefined;
}

const allows = (effects: readonly Effect[], { label }: Target, change: Change): boolean =>
  effects.some(({ calls, table, columns }) => {
    if (table !== change.table || !calls.test(label)) return false;
    return columns === undefined || (change.before !== null && change.after !== null && changedColumns(change).every((column) => columns.includes(column)));
  });

const changedColumns = ({ before, after }: Change): string[] => Object.keys(after ?? {}).filter((column) => before?.[column] !== after?.[column]);

/** Reports a change by a call that was refused or that may only read. */
function unexpected({ target, told }: MadeCall, change: Change): string | undefined {
  if (allows(RECORD, target, change)) return undefined;
  if (told.status === 'error' && !allows(AFTER_REFUSAL, target, change)) return `written by a call that was refused (${told.code})`;
  if (target.contract.annotations.readOnlyHint && !allows(AFTER_READING, target, change)) return 'written by a call that only reads';
  return undefined;
}

function foreign(scene: FuzzScene, { target, caller: { principal } }: MadeCall, change: Change): string | undefined {
  if (principal.operator || allows(RECORD, target, change)) return undefined;
  for (const row of [change.before, change.after]) {
    const owner = row && ownerOf(scene, change.table, row);
    if (owner && owner !== principal.developerId && !allows(acrossFor(scene, principal, change), target, change))
      return `${owner}'s, not ${principal.developerId}'s`;
  }
  return undefined;
}

const acrossFor = (scene: FuzzScene, principal: Principal, change: Change): readonly Effect[] =>
  ACROSS.filter(({ addressee }) => !addressee || isAddressee(scene, principal, rowOf(change)));

function isAddressee(scene: FuzzScene, { developerId, web }: Principal, { to_developer_id, recipient_id }: Row): boolean {
  if (to_developer_id !== undefined) return to_developer_id === developerId;
  return recipient_id === 'human' ? web : scene.captured.find('agents', recipient_id)?.developer_id === developerId;
}

function shown(change: Change): string {
  const { table, before, after } = change;
  const what = !before
    ? 'made'
    : !after
      ? 'removed'
      : changedColumns(change)
          .map((column) => `${column}: ${JSON.stringify(before[column])} → ${JSON.stringify(after[column])}`)
          .join(', ');
  return `${table} ${String(rowOf(change).id ?? '')} ${what}`.slice(0, 600);
}
