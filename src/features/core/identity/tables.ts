import type { EpochMs } from '../../../storage/columns.ts';

export interface WorkspaceRow {
  id: string;
  name: string;
  created_at: EpochMs;
}

export interface DeveloperRow {
  workspace_id: string;
  id: string;
  name: string;
  role: 'admin' | 'member';
  visibility: 'team' | 'private';
  created_at: EpochMs;
}

/** By which a developer may run agents on the server's machine. */
export interface MachinePermissionRow {
  workspace_id: string;
  developer_id: string;
  given_at: EpochMs;
  given_by: string;
}

/** `web` is a browser's sign-in, carried by the cookie and accepted nowhere else. */
export type TokenKind = 'operator' | 'developer' | 'agent' | 'instance' | 'web';

export interface TokenRow {
  workspace_id: string;
  id: string;
  /** SHA-256 of the token, hex. The token itself is shown once and never stored. */
  hash: string;
  kind: TokenKind;
  developer_id: string | null;
  agent_type: string | null;
  instance_id: string | null;
  label: string;
  created_by: string;
  created_at: EpochMs;
  expires_at: EpochMs | null;
  last_used_at: EpochMs | null;
  revoked_at: EpochMs | null;
  /** Of a browser's sign-in: SHA-256 of the secret by which its page shows that it is the dashboard's own origin. */
  proof_hash: string | null;
  /** SHA-256 of the secret that the last rotation replaced; it is accepted until `previous_ends_at`. */
  previous_hash: string | null;
  previous_ends_at: EpochMs | null;
}

/** Opens one address once for a browser's sign-in, where its page cannot send a header. */
export interface PageTicketRow {
  workspace_id: string;
  hash: string;
  token_id: string;
  path: string;
  expires_at: EpochMs;
}

export interface SigninLinkRow {
  workspace_id: string;
  hash: string;
  developer_id: string;
  created_at: EpochMs;
  expires_at: EpochMs;
  used_at: EpochMs | null;
}
