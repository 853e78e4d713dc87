import { Refusal } from '../../../kernel/errors.ts';

/** In the same words whether there is none or it is other people's mail. */
export const messageNotFound = (id: string, field: string): Refusal =>
  new Refusal('MESSAGE_NOT_FOUND', `${field}: your agents have no message ${JSON.stringify(id)}.`, 'message_list names those there are.', { field, id });

export const messageExpired = (id: string, expiresAt: number): Refusal =>
  new Refusal('MESSAGE_EXPIRED', `Message ${JSON.stringify(id)} has expired.`, 'Ask its sender whether it still matters.', {
    field: 'id',
    id,
    expires_at: expiresAt,
  });
