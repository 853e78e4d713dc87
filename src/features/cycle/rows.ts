import { z } from 'zod';
import { newId } from '../../storage/rows.ts';
import type { CycleHandoffRow, CycleRow } from '../../storage/schema-rows.ts';
import { count, idOf, json, localPath, matches, neverBrought, oneOf, type RowRule, type RowRules, rowRule } from '../../storage/transfer/row-rules.ts';
import { CYCLE_STATUSES } from './contract.ts';
import { faultsOf, machineSchema } from './machine.ts';
import { IMPORTED_LOCK } from './tokens.ts';

/** Imported machines must follow the same rules for names as a config, because the names of roles become parts of file names. */
const NAME = /^[a-z][a-z0-9_-]{0,31}$/i;
const role = matches(NAME, 'a role name');

const soundMachine = machineSchema.refine(
  (machine) => faultsOf(machine).length === 0 && [...machine.roles, ...machine.phases.map(({ name }) => name)].every((name) => NAME.test(name)),
  { error: 'not a valid machine of roles and phases' },
);

const DAY_MS = 24 * 3_600_000;
const DIGITS_OF_TIME = 'cyc_'.length + 10;

/**
 * Cycles are imported only as history. The files of an imported cycle belong to a repository on the machine that exported it. For that reason
 * the cycle writes no files here, and its lock token is useless.
 */
const asHistory: RowRule = (row, { now, isAllowed }) => {
  if (!isAllowed(String(row.repository))) return { row: null, leftOut: 'outside_repositories' };
  if (String(row.id).slice(0, DIGITS_OF_TIME) > newId('cyc', now + DAY_MS).slice(0, DIGITS_OF_TIME)) return { wrong: 'id: its time is in the future' };
  const quiet = { ...row, mirrored: row.revision ?? 0, lock_token: IMPORTED_LOCK };
  if (row.status !== 'active') return Number(row.mirrored) < Number(row.revision) ? { row: quiet, leftOut: 'pending_steps' } : { row: quiet };
  return {
    row: { ...quiet, status: 'cancelled', ended_at: now, ended_by: 'import', reason: 'Imported. Start a new cycle here.', updated_at: now },
    leftOut: 'active_cycles',
  };
};

export const cycleRows = {
  cycles: rowRule<CycleRow>(
    {
      id: idOf('cyc'),
      repository: localPath,
      cycle_id: matches(/^\d{8}T\d{6}Z_[A-Za-z0-9_-]{1,100}$/, 'an id such as 20260220T215622Z_featureX'),
      status: oneOf(...CYCLE_STATUSES),
      machine: json(soundMachine),
      config: json(z.record(z.string(), z.unknown())),
      phase: role,
      active_role: role,
      lock_role: role,
      reworks: count,
      revision: count,
      mirrored: count,
    },
    asHistory,
  ),
  cycle_handoffs: rowRule<CycleHandoffRow>({
    cycle: idOf('cyc'),
    number: count,
    target: role,
    producer: role,
    payload: json(z.record(z.string(), z.unknown())),
  }),
  role_sessions: neverBrought('role_sessions'),
  psk_failures: neverBrought('psk_failures'),
} satisfies Partial<RowRules>;
