import type { CallContext } from '../../kernel/context.ts';
import { Refusal } from '../../kernel/errors.ts';
import type { Reply } from '../../kernel/reply.ts';
import type { Tx } from '../../storage/write.ts';
import type { CycleConfig } from './config.ts';
import { answered } from './open-session.ts';
import { useSession } from './role-sessions.ts';
import { activeCycle, type StoredCycle } from './store.ts';

/** What a role wants to do. */
export interface Turn<J, T> {
  /** Whether it may, of the cycle as it stands. Pure: the session has been used even where it may not. */
  judge(cycle: StoredCycle | undefined, role: string): J;
  /** What follows. */
  apply(tx: Tx, cycle: StoredCycle, judged: J): Promise<Reply<T>>;
}

interface ByRole<J, T> extends Turn<J, T> {
  readonly repository: string;
  readonly config: CycleConfig;
  readonly sessionToken: string;
}

/** Session, rule and change in one transaction: of two that hold the same token, one comes first, and the other is judged by what it left. */
export async function asRole<J, T>(ctx: CallContext, { repository, config, sessionToken, judge, apply }: ByRole<J, T>): Promise<Reply<T>> {
  return await ctx.write(async (tx) => {
    const { role } = await useSession(tx, { token: sessionToken, tokenId: ctx.principal.tokenId, repository, psks: config.psks });
    const cycle = await activeCycle(tx.db, tx.workspace, repository);
    let judged: J;
    try {
      judged = judge(cycle, role);
    } catch (error) {
      if (error instanceof Refusal) return answered(error);
      throw error;
    }
    return await apply(tx, cycle as StoredCycle, judged);
  });
}
