import type { Feature } from '../../../kernel/tool.ts';
import type { GrantOffer, Subjects } from './answers.ts';
import { capabilityTools } from './tools.ts';

export type { Caller, CallersPage, NamedSubject, Subjects } from './answers.ts';
export { createGate, type Gate, grantStatus } from './gate.ts';
export { standingGrants } from './store.ts';
export { giveProfile, PROFILES } from './tools.ts';

export const capabilities = (subjects: Subjects, offer: GrantOffer): Feature => ({ name: 'capabilities', implementations: capabilityTools(subjects, offer) });
