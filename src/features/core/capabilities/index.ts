import type { Feature } from '../../../kernel/tool.ts';
import type { GrantOffer } from './answers.ts';
import type { Subjects } from './subjects.ts';
import { capabilityTools } from './tools.ts';

export { createGate, type Gate } from './gate.ts';
export { grantStatus, PROFILES } from './grant.ts';
export { standingGrants } from './store.ts';
export type { Caller, CallersPage, NamedSubject, Subjects } from './subjects.ts';
export { giveProfile } from './tools.ts';

export const capabilities = (subjects: Subjects, offer: GrantOffer): Feature => ({ name: 'capabilities', implementations: capabilityTools(subjects, offer) });
