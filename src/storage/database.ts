import type { GrantRow } from '../features/capabilities/tables.ts';
import type { DeveloperRow, SigninLinkRow, TokenRow, WorkspaceRow } from '../features/identity/tables.ts';
import type { EventRow, JournalHeadRow, SchemaMigrationRow } from './tables.ts';

/** Every table of the one store; each feature describes its own rows. */
export interface Database {
  schema_migrations: SchemaMigrationRow;
  events: EventRow;
  journal_heads: JournalHeadRow;
  workspaces: WorkspaceRow;
  developers: DeveloperRow;
  tokens: TokenRow;
  signin_links: SigninLinkRow;
  grants: GrantRow;
}
