import type { EpochMs, JsonText } from '../../../storage/columns.ts';

export interface GrantRow {
  workspace_id: string;
  id: string;
  /** `operator`, `developer:<id>`, `token:<id>` or `instance:<id>`. */
  subject: string;
  action: string;
  scope: JsonText;
  max_uses: number | null;
  uses: number;
  expires_at: EpochMs | null;
  /** The times of its last calls, oldest first, where its scope has `max_per_minute`. */
  recent: JsonText | null;
  /** Rises with every change of the grant, so that an audit row can say which state of it decided. */
  revision: number;
  granted_by: string;
  created_at: EpochMs;
  revoked_at: EpochMs | null;
  revoked_by: string | null;
}

/** What decides whether a grant stands. */
export type StandingGrant = Pick<GrantRow, 'action' | 'revoked_at' | 'expires_at' | 'max_uses' | 'uses'>;
