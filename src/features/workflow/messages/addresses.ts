/** The people of the workspace. Only a person can answer in this name. */
export const HUMAN = 'human';
/** What the server itself has to say. */
export const SERVER = 'server';

export const isReserved = (id: string): boolean => id === HUMAN || id === SERVER;
