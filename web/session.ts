/**
 * The proof that this page is the dashboard's own: a browser sends the cookie to every port of the host, but gives this storage
 * to no other origin. Not WebCrypto, which plain http has on this machine alone (docs/decisions/0012-sessions.md).
 */
const PROOF = 'covenant.proof';
const WELCOME = 'covenant.welcome';

export const storedProof = (): string | null => localStorage.getItem(PROOF);

export const forgetProof = (): void => localStorage.removeItem(PROOF);

export interface Account {
  readonly developer: string;
  readonly workspace: string;
}

export interface SignedIn {
  readonly proof: string;
  readonly developer: { readonly name: string; readonly role: string };
  readonly workspace: string;
}

/** From here on this browser is that person's; the page that is opened next says whose. */
export function begin({ proof, developer, workspace }: SignedIn): void {
  localStorage.setItem(PROOF, proof);
  sessionStorage.setItem(WELCOME, `Signed in as ${developer.name}, ${developer.role} of ${workspace}.`);
}

/** What to say of a sign-in that was just made; once. */
export function welcome(): string | null {
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
