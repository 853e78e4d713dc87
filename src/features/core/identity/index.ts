import type { Feature } from '../../../kernel/tool.ts';
import { TICKET_MS, WEB_SESSION_MS } from './authenticate.ts';
import type { IdentityLimits } from './people.ts';
import { LINK_MS } from './signin.ts';
import { identityTools } from './tools.ts';

export type { DeveloperRow, TokenRow } from '../../../storage/schema-rows.ts';
export {
  type Authenticate,
  type Authentication,
  type CurrentSession,
  createAuthenticate,
  createCurrentSession,
  createEnterWorkspace,
  hashSecret,
  mintSecret,
} from './authenticate.ts';
export {
  agentTokenExpiry,
  endAllTokens,
  endRevived,
  endTokenById,
  ensureDeveloper,
  ensureWorkspace,
  type IdentityLimits,
  issueInstanceToken,
  issueToken,
  knownDeveloper,
  type RevivedToken,
  revivedTokens,
  setRunAgents,
  workingFor,
} from './people.ts';
export {
  callingDeveloper,
  createRedactReply,
  developerFor,
  hiding,
  PRIVATE,
  PRIVATE_RUNTIME,
  redactor,
  showsFieldsTo,
  type Viewer,
  viewerOf,
} from './redact.ts';
export { createRefusalRecorder, type RefusalRecorder } from './refusals.ts';
export { createSignIn, makeSigninLink, type SignIn, type SignInRequest, signInRequest } from './signin.ts';
export { findDeveloper, firstDeveloper, tokenStands } from './store.ts';
export { grantSubjects } from './subjects.ts';

export const identity = (limits: IdentityLimits): Feature => ({
  name: 'identity',
  implementations: identityTools(limits),
  keeps: [
    { what: 'Developers, and their tokens by hash, also those that were revoked', ms: null },
    { what: "A browser's sign-in, from when it began", ms: WEB_SESSION_MS },
    { what: 'Sign-in links that were not used', ms: LINK_MS },
    { what: 'Tickets for sockets and downloads that were not used', ms: TICKET_MS },
  ],
});
