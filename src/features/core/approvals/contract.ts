import { z } from 'zod';
import { contract, id, OPERATOR_READ, text } from '../../../kernel/contract.ts';

/** `used`: the call was made after the approval. `lapsed`: nobody decided in time, or the caller did not make the approved call in time. */
export const APPROVAL_STATUSES = ['waiting', 'approved', 'refused', 'lapsed', 'used'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

const approvalId = id.describe('Approval id, or the end of it.');

export const approvalView = z.strictObject({
  approval_id: z.string(),
  status: z.enum(APPROVAL_STATUSES),
  noun: z.enum(['tool', 'resource', 'prompt']),
  name: z.string().describe('Tool or prompt name, or the server of a resource.'),
  server: z.string().nullable().describe('External server; null for Covenant itself.'),
  developer: z.string().nullable().describe('Owner of the calling agent; null for the operator.'),
  agent: z.string().nullable(),
  arguments: z.string().nullable().describe('The arguments as JSON. Null once the call no longer waits.'),
  arguments_bytes: z.int().nullable(),
  arguments_cut: z.boolean().describe('True if only the beginning of the arguments is stored.'),
  arguments_sha256: z.string(),
  grant_id: z.string(),
  requested_at: z.int(),
  deadline_at: z.int().describe('Deadline for the decision. After an approval: the deadline for making the call.'),
  decided_at: z.int().nullable(),
  decided_by: z.string().nullable(),
  decided_through: z.string().nullable().describe('dashboard, cli, api or elicitation (the caller’s own client).'),
  reason: z.string().nullable(),
});

export const listApprovals = contract({
  ...OPERATOR_READ,
  name: 'approvals.list',
  title: 'List approvals',
  description: "List calls that wait for a person's approval, oldest first. With `status`, list approved, refused, used or lapsed calls instead, newest first.",
  input: z.strictObject({ status: z.enum(APPROVAL_STATUSES).default('waiting') }),
  output: z.strictObject({ items: z.array(approvalView), cut: z.boolean().describe('True if there are more calls than the list contains.') }),
});

export const approveCall = contract({
  name: 'approvals.approve',
  toolset: 'admin',
  title: 'Approve a call',
  description: 'Let one waiting call go through.',
  input: z.strictObject({ approval_id: approvalId }),
  output: approvalView,
});

export const refuseCall = contract({
  name: 'approvals.refuse',
  toolset: 'admin',
  title: 'Refuse a call',
  description: 'Refuse one waiting call. The caller gets the reason.',
  input: z.strictObject({ approval_id: approvalId, reason: text(500).optional().describe('Reason shown to the caller.') }),
  output: approvalView,
});
