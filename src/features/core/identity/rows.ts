import { CLIENT_NAMES } from '../../../clients/client.ts';
import { title } from '../../../kernel/contract.ts';
import { workspaceName } from '../../../kernel/ids.ts';
import type { DeveloperRow, TokenRow, WorkspaceRow } from '../../../storage/schema-rows.ts';
import { fits, idOf, matches, neverBrought, oneOf, type RowRule, type RowRules, rowRule, sha256 } from '../../../storage/transfer/row-rules.ts';

/** Tokens that are not imported: each would give access to this server or to a browser session that nobody here has approved. */
const NEVER: Partial<Record<TokenRow['kind'], string>> = { operator: 'operator_tokens', web: 'web_tokens', instance: 'instance_tokens' };

const checkToken: RowRule = (row, { agentTokenEnd }) => {
  const kind = row.kind as TokenRow['kind'];
  const leftOut = NEVER[kind];
  if (leftOut !== undefined) return { row: null, leftOut };
  if (row.developer_id === null) return { wrong: 'developer_id: the token has no developer' };
  if (row.instance_id !== null) return { wrong: 'instance_id: only tokens of instances have one' };
  if ((row.agent_type === null) === (kind === 'agent')) return { wrong: `agent_type: does not fit a token of kind ${kind}` };
  // An imported file must not extend access beyond this server's limit.
  if (kind === 'agent' && agentTokenEnd !== null && Number(row.expires_at ?? Number.POSITIVE_INFINITY) > agentTokenEnd)
    return { row: { ...row, expires_at: agentTokenEnd }, leftOut: 'longer_lifetimes' };
  return { row };
};

export const identityRows = {
  workspaces: rowRule<WorkspaceRow>({ id: matches(/^ws_[a-z0-9][a-z0-9-]{0,39}$/, 'a workspace id') }, (row) =>
    row.name === workspaceName(String(row.id)) ? { row } : { wrong: 'name: does not match the id' },
  ),
  developers: rowRule<DeveloperRow>({
    id: idOf('dev'),
    name: matches(/^[^\p{Cc}@]{1,100}$/u, 'a name with no control characters and no "@"'),
    role: oneOf('admin', 'member'),
    visibility: oneOf('team', 'private'),
  }),
  tokens: rowRule<TokenRow>(
    {
      id: idOf('tok'),
      hash: sha256,
      previous_hash: sha256,
      proof_hash: sha256,
      kind: oneOf('operator', 'developer', 'agent', 'instance', 'web'),
      developer_id: idOf('dev'),
      agent_type: oneOf(...CLIENT_NAMES),
      label: fits(title.max(100)),
    },
    checkToken,
  ),
  signin_links: neverBrought('signin_links'),
} satisfies Partial<RowRules>;
