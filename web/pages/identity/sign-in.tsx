import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, type SignInAnswer, signIn } from '../../api.ts';
import { localPath } from '../../local-path.ts';
import { Command } from '../../parts/command.tsx';
import { Notice, Problem } from '../../parts/layout.tsx';
import { UntrustedText } from '../../parts/values.tsx';
import { type Account, beginSession, onSignIn, storedProof } from '../../session.ts';

/**
 * The page that a sign-in link opens. A script on the page does the sign-in. A program that only fetches the address, such as a chat preview, therefore does
 * not use up the link.
 */
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
        Signing in…
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
      <p className="text-muted">If you did not request this link, do not use it: its sender could see what you do in that account.</p>
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

/** The page for people who are not signed in. `isLinkInvalid` means that their link was already used or has expired. */
export function SignIn({ isLinkInvalid = false }: { isLinkInvalid?: boolean }) {
  // If the person signs in in another tab, this tab is signed in too.
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
          This sign-in link was already used or has expired. Create a new one.
        </Notice>
      )}
      <p>To get a sign-in link, run this on the server's machine and open the link that it prints:</p>
      <Command text="covenant open" />
      <p className="text-muted">
        A link works once and expires after 10 minutes. If this is not your machine, ask the operator of the server for a link.
        {location.pathname !== '/' && !isLinkInvalid && ' Then return to this page to continue.'}
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
