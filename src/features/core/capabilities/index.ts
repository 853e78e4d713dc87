import type { Feature } from '../../../kernel/tool.ts';
import type { GrantOffer, Subjects } from './ports.ts';
import { capabilityTools } from './tools.ts';

export { createGate, type Gate, grantStatus } from './gate.ts';
export { giveProfile, PROFILES } from './grants.ts';
export type { Caller, CallersPage, NamedSubject, Subjects } from './ports.ts';
export { standingGrants } from './store.ts';

export const capabilities = (subjects: Subjects, offer: GrantOffer): Feature => ({ name: 'capabilities', implementations: capabilityTools(subjects, offer) });
