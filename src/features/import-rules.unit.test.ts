import { describe, expect, test } from 'vitest';
import { newId } from '../storage/rows.ts';
import type { TransferRow } from '../storage/transfer/layout.ts';
import type { ImportPlace, RowRules } from '../storage/transfer/row-rules.ts';
import { GEMINI_AND_CODEX } from './cycle/machine.ts';
import { IMPORT_RULES } from './import-rules.ts';

const PLACE: ImportPlace = { now: 5_000, agentTokenEnd: 9_000, isAllowed: (path) => path.startsWith('/srv/') };
const judge = (table: keyof RowRules, row: TransferRow) => IMPORT_RULES[table](row, PLACE);
const id = (prefix: string) => newId(prefix, 1);

const INSTANCE: TransferRow = {
  ...{ id: 'work-7-a1', type: 'coding', status: 'started', machine: 'here', repository: '/srv/app', worktree_path: '/srv/app-worktrees/work-7-a1' },
  ...{ branch_name: 'work/work-7-a1', base_branch: 'main', session_name: 'work-7-a1', session_kind: 'tmux', pid: 7, process_start: 1, token_id: id('tok') },
  ...{ news: 'go on', kept_reason: 'unsaved', step: null, step_until: null, step_by: null, step_data: null, ended_at: null, status_reason: null },
};
const CYCLE: TransferRow = {
  ...{ id: id('cyc'), repository: '/srv/app', cycle_id: '20260220T215622Z_x', status: 'active', machine: JSON.stringify(GEMINI_AND_CODEX), config: null },
  ...{ phase: 'frontend', active_role: 'gemini', lock_role: 'gemini', lock_token: 'secret', reworks: 0, revision: 3, mirrored: 3, ended_at: null },
};
const WORKTREE: TransferRow = {
  ...{ id: id('ws'), workflow_id: id('wf'), status: 'active', path: '/srv/x', repository_path: '/srv/app', branch: 'task/x', base_branch: 'main' },
  ...{ base_commit: null, made_by_server: 1, step: null, step_until: null },
};

describe('rows that control something outside the store are imported as history [harden.import.rows-validated]', () => {
  test('an instance is imported as ended, on no machine, without process, token, step or worktree to clean', () => {
    const past = { machine: 'imported', token_id: null, session_kind: null, pid: null, process_start: null, news: null, kept_reason: null };
    expect(judge('instances', INSTANCE)).toEqual({
      row: { ...INSTANCE, ...past, status: 'terminated', status_reason: 'imported', ended_at: PLACE.now },
      leftOut: 'running_instances',
    });
    expect(judge('instances', { ...INSTANCE, ended_at: 3, status: 'pr_merged' })).toMatchObject({ row: { ...past, status: 'pr_merged', ended_at: 3 } });
    expect(judge('instances', { ...INSTANCE, step: 'ending' })).toMatchObject({ row: { step: null, step_data: null }, leftOut: 'pending_steps' });
  });

  test('a cycle is imported as ended, without files to write and with a void lock token; an imported worktree does not belong to this server', () => {
    expect(judge('cycles', CYCLE)).toMatchObject({
      row: { status: 'cancelled', lock_token: 'void', mirrored: 3, ended_by: 'import' },
      leftOut: 'active_cycles',
    });
    expect(judge('cycles', { ...CYCLE, status: 'archived', mirrored: 1 })).toMatchObject({
      row: { mirrored: 3, lock_token: 'void' },
      leftOut: 'pending_steps',
    });
    expect(judge('cycles', { ...CYCLE, id: `cyc_7${'Z'.repeat(25)}` })).toEqual({ wrong: expect.stringContaining('in the future') });
    expect(judge('worktrees', WORKTREE)).toEqual({ row: { ...WORKTREE, made_by_server: 0 }, leftOut: 'server_worktrees' });
    expect(judge('worktrees', { ...WORKTREE, step: 'removing', step_until: 1 })).toMatchObject({ row: { step: null, step_until: null, made_by_server: 0 } });
  });

  test('a row with a path that the operator does not allow is left out; a relative path or a path with `..` makes the file invalid', () => {
    for (const [table, row, column] of [
      ['cycles', CYCLE, 'repository'],
      ['instances', INSTANCE, 'worktree_path'],
      ['worktrees', WORKTREE, 'path'],
    ] as const) {
      expect(judge(table, { ...row, [column]: '/etc/x' })).toEqual({ row: null, leftOut: 'outside_repositories' });
      expect(judge(table, { ...row, [column]: '/srv/../etc' })).toEqual({ wrong: expect.stringContaining(column) });
      expect(judge(table, { ...row, [column]: 'relative' })).toEqual({ wrong: expect.stringContaining(column) });
    }
    expect(judge('instances', { ...INSTANCE, branch_name: '--upload-pack=x' })).toEqual({ wrong: expect.stringContaining('branch_name') });
    expect(judge('instances', { ...INSTANCE, session_name: '=other' })).toEqual({ wrong: expect.stringContaining('session_name') });
  });
});

test('rows that grant access or allow a call are never imported [harden.import.never-brought]', () => {
  const approval = { id: id('apr'), arguments_sha256: 'a'.repeat(64), status: 'approved' };
  expect(judge('approvals', approval)).toEqual({ row: null, leftOut: 'pending_approvals' });
  expect(judge('approvals', { ...approval, status: 'used' })).toMatchObject({ row: { status: 'used' } });
  for (const [table, leftOut] of [
    ['signin_links', 'signin_links'],
    ['device_grants', 'device_approvals'],
    ['role_sessions', 'role_sessions'],
    ['call_rounds', 'pending_calls'],
  ] as const)
    expect(judge(table, {})).toEqual({ row: null, leftOut });
});

test('an imported agent token expires no later than one created here [harden.import.never-brought]', () => {
  const token = { id: id('tok'), hash: 'a'.repeat(64), kind: 'agent', developer_id: id('dev'), agent_type: 'codex', instance_id: null };
  const until = (expires_at: number | null, kind = 'agent', place = PLACE) => {
    const verdict = IMPORT_RULES.tokens({ ...token, kind, agent_type: kind === 'agent' ? 'codex' : null, expires_at }, place);
    return 'row' in verdict ? [verdict.row?.expires_at, verdict.leftOut] : verdict.wrong;
  };
  expect(until(null)).toEqual([9_000, 'longer_lifetimes']);
  expect(until(9_001)).toEqual([9_000, 'longer_lifetimes']);
  expect(until(8_999)).toEqual([8_999, undefined]);
  expect(until(null, 'developer')).toEqual([null, undefined]);
  expect(until(null, 'agent', { ...PLACE, agentTokenEnd: null })).toEqual([null, undefined]);
});

test('a definition of an external server is imported as seen, not approved [harden.import.rows-validated]', () => {
  const hash = 'a'.repeat(64);
  const pin = { server: 'files', kind: 'tool', name: 'read', exposed: 'read', approved: '{}', approved_hash: hash, approved_at: 3, approved_by: 'operator' };
  const never = { approved: null, approved_hash: null, approved_at: null, approved_by: null };
  const seen = { seen: '{}', seen_hash: hash, seen_at: 3 };
  expect(judge('upstream_pins', { ...pin, ...seen })).toEqual({ row: { ...pin, ...seen, ...never }, leftOut: 'approved_definitions' });
  expect(judge('upstream_pins', { ...pin, seen: null, seen_hash: null, seen_at: 3 })).toEqual({ row: null, leftOut: 'approved_definitions' });
  expect(judge('upstream_pins', { ...pin, ...seen, ...never })).toEqual({ row: { ...pin, ...seen, ...never } });
});
