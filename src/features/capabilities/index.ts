import type { Feature } from '../../kernel/tool.ts';
import { capabilityTools, type Subjects } from './tools.ts';

export { createGate, type Gate } from './gate.ts';
export { giveProfile } from './tools.ts';

export const capabilities = (subjects: Subjects): Feature => ({ name: 'capabilities', implementations: capabilityTools(subjects) });
