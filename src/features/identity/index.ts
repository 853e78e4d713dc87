import type { Feature } from '../../kernel/tool.ts';
import { LINK_MS, WEB_SESSION_MS } from './signin.ts';
import { identityTools } from './tools.ts';

export { type Authenticate, createAuthenticate, createEnterWorkspace } from './authenticate.ts';
export { endAllTokens, endTokenById, ensureDeveloper, ensureWorkspace, issueInstanceToken, issueToken, knownDeveloper, workingFor } from './people.ts';
export { callingDeveloper, developerFor, hiding, namesFor, PRIVATE, redactor, shown } from './privacy.ts';
export { createRefusalRecorder, type RefusalRecorder } from './refusals.ts';
export { endRevived, type RevivedToken, revivedTokens } from './revived.ts';
export { createSignIn, makeSigninLink, type SignIn } from './signin.ts';
export { developersOf, findDeveloper, firstDeveloper, tokenStands } from './store.ts';
export { grantSubjects } from './subjects.ts';
export type { DeveloperRow, TokenRow } from './tables.ts';
export { AGENT_TYPES, hashSecret, mintSecret } from './token.ts';

export const identity: Feature = {
  name: 'identity',
  implementations: identityTools,
  keeps: [
    { what: 'Developers, and their tokens by hash, also those that were revoked', ms: null },
    { what: "A browser's sign-in, from when it began", ms: WEB_SESSION_MS },
    { what: 'Sign-in links that were not used', ms: LINK_MS },
  ],
};
