import { useEffect } from 'react';
import { Command } from '../../parts/copy.tsx';
import { Notice } from '../../parts/tone.tsx';
import { onSignIn, storedProof } from '../../session.ts';

/** `isLinkInvalid`: a link was opened that was used before, or too late. */
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
