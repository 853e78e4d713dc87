import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Services } from '../../../kernel/call.ts';
import { type Ports, ROUND_PREFIX } from '../../../kernel/ports.ts';
import { Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { insertRows, readJson } from '../../../storage/rows.ts';
import type { CallRoundRow } from '../../../storage/schema-rows.ts';

export const ROUND_MS = 15 * 60_000;
const MAX_STATE_BYTES = 64 * 1024;
const TOKEN = /^cvr_[A-Za-z0-9_-]{43}$/;

/**
 * Stores calls of several rounds, which count as one use of their grant. The token that the caller sends back proves that the use
 * was already counted.
 */
export function createRounds({ store }: Services): Pick<Ports, 'suspend' | 'resume'> {
  return {
    async suspend(principal, { noun, name }, argsDigest, { grantId, approvalId, requestState }) {
      // The state is stored as JSON, because the state of another server may contain characters that a text column cannot store.
      const state = requestState === undefined ? null : JSON.stringify(requestState);
      if (argsDigest === null || (state !== null && Buffer.byteLength(state) > MAX_STATE_BYTES)) throw stateTooLong(name);
      const token = ROUND_PREFIX + randomBytes(32).toString('base64url');
      await store.write(principal.workspace, (tx) =>
        insertRows(tx.db, 'call_rounds', {
          workspace_id: tx.workspace,
          token_sha256: hash('sha256', token),
          token_id: principal.tokenId,
          noun,
          name,
          arguments_sha256: argsDigest,
          grant_id: grantId,
          approval_id: approvalId,
          request_state: state,
          expires_at: tx.now + ROUND_MS,
        }),
      );
      return token;
    },

    async resume(principal, { noun, name }, argsDigest, token) {
      if (argsDigest === null || !TOKEN.test(token)) return undefined;
      const key = { token_sha256: hash('sha256', token), token_id: principal.tokenId, noun, name, arguments_sha256: argsDigest };
      const row = await store.write(principal.workspace, (tx) => takeRound(tx.db, tx.workspace, key, tx.now));
      if (!row) return undefined;
      return {
        grantId: row.grant_id,
        approvalId: row.approval_id,
        requestState: row.request_state === null ? undefined : readJson(z.string(), row.request_state),
      };
    },
  };
}

type RoundKey = Pick<CallRoundRow, 'token_sha256' | 'token_id' | 'noun' | 'name' | 'arguments_sha256'>;

/** Deletes and returns the round if it belongs to exactly this call. Each round can be taken only once. */
async function takeRound(db: Db, workspace: string, key: RoundKey, now: number): Promise<CallRoundRow | undefined> {
  return await db
    .deleteFrom('call_rounds')
    .where('workspace_id', '=', workspace)
    .where('token_sha256', '=', key.token_sha256)
    .where('token_id', '=', key.token_id)
    .where('noun', '=', key.noun)
    .where('name', '=', key.name)
    .where('arguments_sha256', '=', key.arguments_sha256)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
}

const stateTooLong = (name: string): Refusal =>
  new Refusal(
    'UPSTREAM_INVALID',
    `The server of ${name} asked for input with a \`requestState\` of more than ${MAX_STATE_BYTES / 1024} KiB, which Covenant does not store.`,
    'Ask the operator to check that server: `covenant servers list`, then `covenant servers logs NAME`.',
  );
