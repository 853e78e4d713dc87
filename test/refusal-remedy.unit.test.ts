import { expect, test } from 'vitest';
import { commandIn, remedyOf } from '../web/pages/team/refusal-remedy.ts';

test('a refusal links to the place where it can be resolved, with the command that it names', () => {
  expect(remedyOf({ code: 'VERDICT_REQUIRED', warning_id: 'warn_1', edit: null }, null)?.path).toBe('/tasks/overlaps?warning=warn_1');
  expect(remedyOf({ code: 'REVIEW_LIMIT_EXCEEDED', warning_id: null, edit: null }, 'work-7-a1')?.path).toBe('/reviews/work-7-a1');
  expect(remedyOf({ code: 'REVIEW_LIMIT_EXCEEDED', warning_id: null, edit: null }, null)).toBeUndefined();
  const edit = { path: 'src/a.ts', claim_id: 'clm_1', client: 'codex', tool: 'apply_patch' };
  expect(remedyOf({ code: null, warning_id: null, edit }, null)?.path).toBe('/tasks/claims?claim=clm_1');
  expect(remedyOf({ code: 'TASK_NOT_FOUND', warning_id: null, edit: null }, null)).toBeUndefined();
  expect(commandIn('Ask the operator to run: covenant capabilities grant tool.call.echo --token tok_1')).toBe(
    'covenant capabilities grant tool.call.echo --token tok_1',
  );
  expect(commandIn('Call with a token made by `covenant tokens create --developer NAME`.')).toBe('covenant tokens create --developer NAME');
  expect(commandIn('Judge every candidate.')).toBeUndefined();
  expect(commandIn(null)).toBeUndefined();
});
