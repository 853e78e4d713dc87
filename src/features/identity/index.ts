import type { Feature } from '../../kernel/tool.ts';
import { identityTools } from './tools.ts';

export { type Authenticate, createAuthenticate, type Rejection } from './authenticate.ts';
export { ensureDeveloper, ensureWorkspace, issueToken } from './people.ts';
export { redactor } from './privacy.ts';
export { createRefusalRecorder, type RefusalRecorder } from './refusals.ts';
export { createSignIn, makeSigninLink, type SignIn } from './signin.ts';
export { findTokenByHash, firstDeveloper, workspaceExists } from './store.ts';
export { grantSubjects } from './subjects.ts';
export { AGENT_TYPES, hashSecret } from './token.ts';
export { DEFAULT_WORKSPACE, DEFAULT_WORKSPACE_ID, workspaceId } from './workspace.ts';

export const identity: Feature = { name: 'identity', implementations: identityTools };
