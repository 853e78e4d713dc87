import type { House } from '../../../kernel/context.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import { noteSilence } from './leave.ts';
import type { Gone } from './ports.ts';
import { silentAgents } from './store.ts';

const EVERY_MS = 5_000;
const AT_ONCE = 100;

/** Looks before it writes: a server with nobody silent writes nothing. */
export function silenceSweep({ store, clock }: Pick<House, 'store' | 'clock'>, gone: Gone): Sweep {
  return {
    name: 'agents',
    everyMs: EVERY_MS,
    async run() {
      for (;;) {
        const silent = await silentAgents(store.reader, clock.now(), AT_ONCE);
        for (const [workspace, agents] of Map.groupBy(silent, ({ workspace_id }) => workspace_id)) {
          await store.write(workspace, async (tx) => {
            for (const { id } of agents) await noteSilence(tx, id, gone);
          });
        }
        if (silent.length < AT_ONCE) return;
      }
    },
  };
}
