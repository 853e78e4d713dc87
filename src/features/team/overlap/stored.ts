import { z } from 'zod';
import type { OverlapItemRow } from '../../../storage/schema-rows.ts';

/** What the JSON columns of the index hold. */

export const filesSchema = z.array(z.string());

export const analysedSchema = z.object({
  terms: z.array(z.string()),
  counts: z.array(z.number()),
  prefix: z.string().nullable(),
  prefixTerms: z.array(z.string()),
});

/** We wrote these columns, and read thousands of them at a time: checking each would cost more than everything else. */
export function trustedItem(row: Pick<OverlapItemRow, 'id' | 'analysed' | 'files'>): {
  id: string;
  analysed: z.output<typeof analysedSchema>;
  files: string[];
} {
  return { id: row.id, analysed: JSON.parse(row.analysed), files: JSON.parse(row.files) };
}
