import type { AskRow } from '../../../storage/schema-rows.ts';

export const RECEIPTS = ['sent', 'delivered', 'read', 'answered'] as const;
export type Receipt = (typeof RECEIPTS)[number];

/** How far an ask has come. Delivered: carried in an answer to the addressee. Read: listed there in full. */
export function receiptOf(ask: Pick<AskRow, 'delivered_at' | 'read_at' | 'answered_at'>): Receipt {
  if (ask.answered_at !== null) return 'answered';
  if (ask.read_at !== null) return 'read';
  return ask.delivered_at !== null ? 'delivered' : 'sent';
}

export const isUndelivered = (ask: Pick<AskRow, 'delivered_at'>): boolean => ask.delivered_at === null;

export const isOverdue = (ask: Pick<AskRow, 'answered_at' | 'due_at'>, now: number): boolean => ask.answered_at === null && now > ask.due_at;
