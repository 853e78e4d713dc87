/** What the address of the list holds: nothing chosen means all of them. */
export interface OverlapSearch {
  status?: 'open';
  level?: 'warn' | 'escalated';
  /** Only those about this piece of work. */
  subject?: string;
  /** The list goes on after this one. */
  before?: string;
  /** The warning whose panel is open. */
  warning?: string;
  /** The comparison of all work with all is shown. */
  audit?: true;
}

export const overlapSearch = ({ status, level, subject, before, warning, audit }: Record<string, unknown>): OverlapSearch => ({
  ...(status === 'open' && { status }),
  ...((level === 'warn' || level === 'escalated') && { level }),
  ...(typeof subject === 'string' && { subject }),
  ...(typeof before === 'string' && { before }),
  ...(typeof warning === 'string' && { warning }),
  ...(audit === true && { audit }),
});
