import { z } from 'zod';
import type { GrantRow } from '../../../storage/schema-rows.ts';
import { count, fits, idOf, json, matches, type RowRules, rowRule } from '../../../storage/transfer/row-rules.ts';
import { actionName, grantScope } from './contract.ts';

export const grantRows = {
  grants: rowRule<GrantRow>({
    id: idOf('grant'),
    subject: matches(/^(operator|(developer|token|instance):[A-Za-z0-9_-]{1,64})$/, 'operator, developer:<id>, token:<id> or instance:<id>'),
    action: fits(actionName),
    scope: json(grantScope),
    recent: json(z.array(z.int())),
    max_uses: count,
    uses: count,
    revision: count,
  }),
} satisfies Partial<RowRules>;
