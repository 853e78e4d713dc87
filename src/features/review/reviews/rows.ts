import { z } from 'zod';
import type { ReviewFeedbackRow } from '../../../storage/schema-rows.ts';
import { commit, count, idOf, json, matches, oneOf, type RowRules, rowRule } from '../../../storage/transfer/row-rules.ts';
import { INSTANCE_ID } from '../instances/index.ts';
import { FEEDBACK_TYPES, PRIORITIES } from './contract.ts';

const instance = matches(INSTANCE_ID, 'an instance id');

/** Imported feedback that was not delivered stays undelivered, because its coding agent does not exist on this server. */
export const reviewRows = {
  review_feedback: rowRule<ReviewFeedbackRow>(
    {
      id: idOf('fb'),
      review_instance: instance,
      coding_instance: instance,
      review_iteration: count,
      feedback_type: oneOf(...FEEDBACK_TYPES),
      priority: oneOf(...PRIORITIES),
      actionable_items: json(z.array(z.string())),
      git_commit_hash: commit,
      delivered: oneOf('merged', 'message'),
      step: oneOf('merging'),
    },
    (row) =>
      row.step === null && row.delivered !== null
        ? { row }
        : {
            row: { ...row, step: null, step_until: null, step_by: null, delivered: row.delivered ?? 'message', reason: row.reason ?? 'imported' },
            leftOut: 'pending_steps',
          },
  ),
} satisfies Partial<RowRules>;
