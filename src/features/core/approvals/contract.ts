import { z } from 'zod';
import { contract, id, OPERATOR_READ, text } from '../../../kernel/contract.ts';

/** `used`: the approved call has been made. `lapsed`: nobody decided in time, or nobody made the approved call. */
export const APPROVAL_STATUSES = ['waiting', 'approved', 'refused', 'lapsed', 'used'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

const approvalId = id.describe('The approval, or the end of its id.');

export const approvalView = z.strictObject({
  approval_id: z.string(),
  status: z.enum(APPROVAL_STATUSES),
  noun: z.enum(['tool', 'resource', 'prompt']),
  name: z.string().describe('The tool or prompt, or the server of a resource.'),
  server: z.string().nullable().describe('The external server that it is of; null for the product itself.'),
  developer: z.string().nullable().describe('Whose agent asks; null for the operator.'),
  agent: z.string().nullable(),
  arguments: z.string().nullable().describe('As JSON, only while it waits.'),
  arguments_bytes: z.int().nullable(),
  arguments_cut: z.boolean().describe('Only their beginning is kept.'),
  arguments_sha256: z.string(),
  grant_id: z.string(),
  requested_at: z.int(),
  deadline_at: z.int().describe('Until when it can be decided; once it is approved, until when the call can be made.'),
  decided_at: z.int().nullable(),
  decided_by: z.string().nullable(),
  decided_through: z.string().nullable().describe('dashboard, cli, api, or elicitation: by the caller’s own client.'),
  reason: z.string().nullable(),
});

export const listApprovals = contract({
  ...OPERATOR_READ,
  name: 'approvals.list',
  title: 'Calls that wait for approval',
  description: 'Calls that a person has to approve, the oldest first; with a status, those that were approved, refused, used or not decided in time.',
  input: z.strictObject({ status: z.enum(APPROVAL_STATUSES).default('waiting') }),
  output: z.strictObject({ items: z.array(approvalView), cut: z.boolean().describe('There are more than are listed.') }),
});

export const approveCall = contract({
  name: 'approvals.approve',
  toolset: 'admin',
  title: 'Approve a call',
  description: 'Lets one call go through that waits for approval.',
  input: z.strictObject({ approval_id: approvalId }),
  output: approvalView,
});

export const refuseCall = contract({
  name: 'approvals.refuse',
  toolset: 'admin',
  title: 'Refuse a call',
  description: 'Turns a call away that waits for approval; its caller is told the reason.',
  input: z.strictObject({ approval_id: approvalId, reason: text(500).optional().describe('What the caller is told.') }),
  output: approvalView,
});
