/**
 * The storage key of the proof, a secret which shows that a request comes from the dashboard's own page. A browser sends the cookie to all ports of the host,
 * but only pages of this origin can read this storage. WebCrypto is not used, because over plain http it is available only on localhost
 * (docs/decisions/0012-sessions.md).
 */
const PROOF = 'covenant.proof';
const WELCOME = 'covenant.welcome';
const ACCOUNT = 'covenant.account';

export const storedProof = (): string | null => localStorage.getItem(PROOF);

export const forgetProof = (): void => localStorage.removeItem(PROOF);

/**
 * Returns the account that last signed in with this browser. It is stored separately, because a page on another port can delete the cookie, and even then a
 * sign-in link for a different account must be noticed.
 */
export const lastAccount = (): (Account & { readonly id: string }) | null => JSON.parse(localStorage.getItem(ACCOUNT) ?? 'null');

/** Deletes the stored account, so that the next person who uses this browser is not taken for this one. */
export function endSession(): void {
  forgetProof();
  localStorage.removeItem(ACCOUNT);
}

export interface Account {
  readonly developer: string;
  readonly workspace: string;
}

export interface SignedIn {
  readonly proof: string;
  readonly developer: { readonly id: string; readonly name: string; readonly role: string };
  readonly workspace: string;
}

/** Stores the new session. The next page then shows the account. */
export function beginSession({ proof, developer, workspace }: SignedIn): void {
  localStorage.setItem(PROOF, proof);
  localStorage.setItem(ACCOUNT, JSON.stringify({ id: developer.id, developer: developer.name, workspace }));
  sessionStorage.setItem(WELCOME, `Signed in as ${developer.name}, ${developer.role} of ${workspace}.`);
}

/** Returns the message that confirms a sign-in, and deletes it, so that it is shown only once. */
export function takeWelcome(): string | null {
  const words = sessionStorage.getItem(WELCOME);
  sessionStorage.removeItem(WELCOME);
  return words;
}

/** Calls `listener` when another tab signs in. */
export function onSignIn(listener: () => void): () => void {
  const onStorage = ({ key, newValue }: StorageEvent): void => {
    if (key === PROOF && newValue !== null) listener();
  };
  addEventListener('storage', onStorage);
  return () => removeEventListener('storage', onStorage);
}
