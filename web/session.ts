/**
 * The proof that this page is the dashboard's own: a browser sends the cookie to every port of the host, but gives this storage
 * to no other origin. Not WebCrypto, which plain http has on this machine alone (docs/decisions/0012-sessions.md).
 */
const PROOF = 'covenant.proof';
const WELCOME = 'covenant.welcome';
const ACCOUNT = 'covenant.account';

export const storedProof = (): string | null => localStorage.getItem(PROOF);

export const forgetProof = (): void => localStorage.removeItem(PROOF);

/** Whose account this browser had last. Another port can take the cookie away: then a stranger's link must still not pass for one's own. */
export const lastAccount = (): (Account & { readonly id: string }) | null => JSON.parse(localStorage.getItem(ACCOUNT) ?? 'null');

/** The person leaves, and whoever comes next is nobody else's. */
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

/** From here on this browser is that person's; the page that is opened next says whose. */
export function beginSession({ proof, developer, workspace }: SignedIn): void {
  localStorage.setItem(PROOF, proof);
  localStorage.setItem(ACCOUNT, JSON.stringify({ id: developer.id, developer: developer.name, workspace }));
  sessionStorage.setItem(WELCOME, `Signed in as ${developer.name}, ${developer.role} of ${workspace}.`);
}

/** What to say of a sign-in that was just made; once. */
export function takeWelcome(): string | null {
  const words = sessionStorage.getItem(WELCOME);
  sessionStorage.removeItem(WELCOME);
  return words;
}

/** Calls when another tab signs in. */
export function onSignIn(listener: () => void): () => void {
  const heard = ({ key, newValue }: StorageEvent): void => {
    if (key === PROOF && newValue !== null) listener();
  };
  addEventListener('storage', heard);
  return () => removeEventListener('storage', heard);
}
