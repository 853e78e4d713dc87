import { neverBrought, type RowRules } from '../../../storage/transfer/row-rules.ts';

export const deviceRows = { device_grants: neverBrought('device_approvals') } satisfies Partial<RowRules>;
