import type { Feature } from '../../../kernel/tool.ts';
import { LINK_MS, WEB_SESSION_MS } from './signin.ts';
import { TICKET_MS } from './tickets.ts';
import type { IdentityLimits } from './tokens.ts';
import { identityTools } from './tools.ts';

export type { DeveloperRow, TokenRow } from '../../../storage/schema-rows.ts';
export {
  type Authenticate,
  type Authentication,
  type CurrentSession,
  callingDeveloper,
  createAuthenticate,
  createCurrentSession,
  createEnterWorkspace,
  isTokenLive,
  tokenEnd,
} from './authenticate.ts';
export { ensureDeveloper, ensureWorkspace, instanceOwner, selfOrNamedDeveloper, setRunAgents } from './developers.ts';
export { createRedactReply, eventRedactor, PRIVATE, PRIVATE_RUNTIME, valueRedactor } from './redact.ts';
export { createRefusalRecorder, type RefusalRecorder } from './refusal-recorder.ts';
export { endRevived, type RevivedToken, revivedTokens } from './revived-tokens.ts';
export { hashSecret, mintSecret } from './secrets.ts';
export { createSignIn, makeSigninLink, type SignIn, type SignInRequest, signInRequest } from './signin.ts';
export { findDeveloper, firstDeveloper } from './store.ts';
export { grantSubjects } from './subjects.ts';
export { agentTokenExpiry, endAllTokens, endTokenById, type IdentityLimits, issueInstanceToken, issueToken } from './tokens.ts';
export { developerFor, showsFieldsTo, type Viewer, viewerOf } from './viewer.ts';

export const identity = (limits: IdentityLimits): Feature => ({
  name: 'identity',
  implementations: identityTools(limits),
  keeps: [
    { what: 'Developers and their token hashes, including revoked ones', ms: null },
    { what: 'Browser sign-ins, from their start', ms: WEB_SESSION_MS },
    { what: 'Unused sign-in links', ms: LINK_MS },
    { what: 'Unused tickets for sockets and downloads', ms: TICKET_MS },
  ],
});
