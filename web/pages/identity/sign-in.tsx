import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, type SignInAnswer, signIn } from '../../api.ts';
import { localPath } from '../../local-path.ts';
import { Command } from '../../parts/command.tsx';
import { Notice, Problem } from '../../parts/layout.tsx';
import { UntrustedText } from '../../parts/values.tsx';
import { type Account, beginSession, onSignIn, storedProof } from '../../session.ts';

/** The page of a sign-in link. Only its script uses up the link: a program that just fetches the address, such as the preview of a chat, does not. */
export function Arrival({ code }: { code: string }) {
  const [answer, setAnswer] = useState<SignInAnswer | { error: unknown }>();
  const isBegun = useRef(false);
  const signInByLink = useCallback(
    async (replace: boolean): Promise<void> => {
      setAnswer(undefined);
      try {
        const made = await signIn(code, replace);
        if (!('signedIn' in made)) return setAnswer(made);
        beginSession(made.signedIn);
        location.replace(localPath(new URLSearchParams(location.search).get('to') ?? undefined));
      } catch (error) {
        setAnswer({ error });
      }
    },
    [code],
  );
  useEffect(() => {
    if (isBegun.current) return;
    isBegun.current = true;
    void signInByLink(false);
  }, [signInByLink]);

  if (answer && 'another' in answer) return <OtherAccount {...answer.another} onAgree={() => void signInByLink(true)} />;
  if (answer && 'error' in answer) {
    if (answer.error instanceof ApiError && answer.error.code === 'SIGNIN_LINK_INVALID') return <SignIn isLinkInvalid />;
    return (
      <main className="mx-auto max-w-lg p-4">
        <title>Sign in · Covenant</title>
        <Problem what="You are not signed in." error={answer.error} onRetry={() => void signInByLink(false)} />
      </main>
    );
  }
  return (
    <main className="mx-auto grid min-h-dvh max-w-md content-center p-4">
      <title>Signing in · Covenant</title>
      <p role="status" className="text-muted">
        Signing in …
      </p>
    </main>
  );
}

function OtherAccount({ linkFor, signedInAs, onAgree }: { linkFor: Account; signedInAs: Account; onAgree: () => void }) {
  return (
    <main className="mx-auto grid min-h-dvh max-w-md content-center gap-4 p-4">
      <title>Whose account? · Covenant</title>
      <h1>This link is for another account</h1>
      <Notice tone="wait" role="alert">
        <p>
          The link signs you in as <Named account={linkFor} />. This browser is signed in as <Named account={signedInAs} />.
        </p>
      </Notice>
      <p className="text-muted">If somebody sent you this link and you did not ask for it, do not use it: they would see what you do there.</p>
      <div className="flex flex-wrap justify-end gap-2">
        <button type="button" className="button" onClick={onAgree}>
          Sign in as {linkFor.developer}
        </button>
        <a href="/" className="button button-primary">
          Stay signed in as {signedInAs.developer}
        </a>
      </div>
    </main>
  );
}

const Named = ({ account: { developer, workspace } }: { account: Account }) => (
  <>
    <strong className="font-semibold">
      <UntrustedText text={developer} />
    </strong>{' '}
    of workspace {workspace}
  </>
);

/** The page without a session. `isLinkInvalid`: the link was used before or has expired. */
export function SignIn({ isLinkInvalid = false }: { isLinkInvalid?: boolean }) {
  // Another tab that has just signed in has signed in this one too.
  useEffect(() => onSignIn(() => location.assign(isLinkInvalid ? '/' : location.href)), [isLinkInvalid]);
  return (
    <main className="mx-auto grid min-h-dvh max-w-md content-center gap-4 p-4">
      <title>Sign in · Covenant</title>
      <h1 className="flex items-center gap-2">
        <img src="/favicon.svg" alt="" className="size-6" />
        Sign in to Covenant
      </h1>
      {isLinkInvalid && (
        <Notice tone="wait" role="alert">
          That sign-in link was already used or has expired. Make a new one.
        </Notice>
      )}
      <p>The dashboard needs a sign-in link. To get one, run this on the machine where the server runs, then open the link it prints:</p>
      <Command text="covenant open" />
      <p className="text-muted">
        A link works once, within ten minutes. Not your machine? Ask whoever runs the server for a link.
        {location.pathname !== '/' && !isLinkInvalid && ' Then come back to this page: it goes on where you were.'}
      </p>
      {isLinkInvalid && storedProof() !== null && (
        <p>
          <a href="/" className="link">
            Open the dashboard
          </a>
        </p>
      )}
    </main>
  );
}
