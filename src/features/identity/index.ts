import type { Feature } from '../../kernel/tool.ts';
import { identityTools } from './tools.ts';

export { type Authenticate, createAuthenticate, createEnterWorkspace } from './authenticate.ts';
export { endTokenById, ensureDeveloper, ensureWorkspace, issueInstanceToken, issueToken, workingFor } from './people.ts';
export { callingDeveloper, developerFor, hiding, namesFor, PRIVATE, redactor } from './privacy.ts';
export { createRefusalRecorder, type RefusalRecorder } from './refusals.ts';
export { createSignIn, makeSigninLink, type SignIn } from './signin.ts';
export { firstDeveloper, tokenStands } from './store.ts';
export { grantSubjects } from './subjects.ts';
export { AGENT_TYPES } from './token.ts';

export const identity: Feature = { name: 'identity', implementations: identityTools };
