import type { Feature } from '../../../kernel/tool.ts';
import { type NotePorts, noteTools } from './tools.ts';

export { notesOfSession, recentNotes } from './tools.ts';

export const notes = (ports: NotePorts): Feature => ({ name: 'notes', implementations: noteTools(ports) });
