import { z } from 'zod';

/** The largest message that a terminal takes, in bytes. */
export const MOST_BYTES = 16 * 1024;

const message = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input'), data: z.string().min(1).max(4_096) }),
  z.strictObject({ type: z.literal('resize'), columns: z.int().min(20).max(500), rows: z.int().min(5).max(200) }),
]);

export type TerminalMessage = z.output<typeof message>;

/** What a person's terminal says, or what is wrong with it. */
export function readMessage(data: unknown, isBinary: boolean): TerminalMessage | { problem: string } {
  if (isBinary) return { problem: 'Messages are JSON text.' };
  let value: unknown;
  try {
    value = JSON.parse(String(data));
  } catch {
    return { problem: 'The message is not valid JSON.' };
  }
  const read = message.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  return { problem: `${issue?.path.join('.') || 'message'}: ${issue?.message}. Send {"type":"input","data"} or {"type":"resize","columns","rows"}.` };
}
