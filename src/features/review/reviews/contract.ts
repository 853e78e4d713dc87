import { z } from 'zod';
import { contract, text } from '../../../kernel/contract.ts';

export const FEEDBACK_TYPES = ['needs_work', 'suggestions', 'clarification'] as const;
export const PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;

export const requestReview = contract({
  name: 'request_review',
  agentType: 'coding',
  essential: true,
  toolset: 'review',
  title: 'Request a review',
  description:
    'For coding agents: start a review agent on your commits, in a worktree forked from your branch, and set you to waiting_review. Commit first. ' +
    'You are notified when feedback has been merged into your branch as REVIEW_FEEDBACK.md. The number of reviews is limited.',
  input: z.strictObject({
    reviewer_prompt: text(16_000).optional().describe('Replaces the default instructions of the review agent.'),
    completion_message: text(8_000).optional().describe('What you did, in a few sentences.'),
  }),
  output: z.strictObject({ review_instance_id: z.string(), session_name: z.string(), worktree_path: z.string(), branch_name: z.string() }),
  annotations: { openWorldHint: true },
});

export const sendFeedback = contract({
  name: 'send_feedback',
  agentType: 'review',
  essential: true,
  toolset: 'review',
  title: 'Send feedback',
  description: 'For review agents: merge your feedback into the branch that you review, notify its agent and end your session.',
  input: z.strictObject({
    feedback: text(64_000),
    feedback_type: z.enum(FEEDBACK_TYPES),
    priority: z.enum(PRIORITIES).optional(),
    actionable_items: z.array(text(1_000)).max(100).optional(),
  }),
  output: z.strictObject({
    feedback_id: z.string(),
    git_commit_hash: z.string().nullable(),
    target_instance_id: z.string(),
    cleanup_status: z.string(),
    delivered: z.enum(['merged', 'message']),
    reason: z.string().nullable().describe('Why it was not merged.'),
  }),
  annotations: { openWorldHint: true },
});
