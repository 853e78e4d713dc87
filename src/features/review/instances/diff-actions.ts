import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { instancesDiff, instancesSizes, instancesUnsaved } from './contract.ts';
import { diffOf } from './diff.ts';
import { createSizes } from './sizes.ts';
import type { Outside } from './step.ts';
import { findInstances } from './store.ts';
import { unsavedOf } from './unsaved.ts';
import { instanceViewer } from './views.ts';
import { requireWatchable } from './watch.ts';

/** What instances have made, as it lies on this machine. */
export function diffActions(outside: Outside): Implementation[] {
  const sizes = createSizes(outside);
  return [
    implement(instancesDiff, {
      read: async ({ instance_id, ...wanted }, ctx) => {
        const row = await requireWatchable(ctx.reader, ctx.principal, instance_id, outside.machine);
        return ok(await diffOf(outside, row, wanted, ctx.signal));
      },
    }),
    implement(instancesSizes, {
      read: async ({ instance_ids }, ctx) => {
        const rows = await findInstances(ctx.reader, ctx.workspace, instance_ids);
        const { isHidden } = await instanceViewer(ctx.reader, ctx.principal, []);
        const known = await sizes(
          rows.filter((row) => !isHidden(row)),
          ctx.clock.now(),
        );
        return ok({ items: [...known].map(([instance_id, size]) => ({ instance_id, ...size })) });
      },
    }),
    implement(instancesUnsaved, {
      read: async ({ instance_id }, ctx) => {
        const row = await requireWatchable(ctx.reader, ctx.principal, instance_id, outside.machine);
        return ok(await unsavedOf(outside, ctx.reader, row, ctx.signal));
      },
    }),
  ];
}
