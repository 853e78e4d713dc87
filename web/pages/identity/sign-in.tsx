import { Command } from '../../parts/copy.tsx';
import { Notice } from '../../parts/tone.tsx';

export function SignIn() {
  const expired = new URLSearchParams(location.search).get('signin') === 'expired';
  return (
    <main className="mx-auto grid min-h-dvh max-w-md content-center gap-4 p-4">
      <title>Sign in · Covenant</title>
      <h1 className="flex items-center gap-2">
        <img src="/favicon.svg" alt="" className="size-6" />
        Sign in to Covenant
      </h1>
      {expired && (
        <Notice tone="wait" role="alert">
          That sign-in link was already used or has expired. Make a new one.
        </Notice>
      )}
      <p>The dashboard needs a sign-in link. To get one, run this on the machine where the server runs, then open the link it prints:</p>
      <Command text="covenant open" />
      <p className="text-muted">
        A link works once, within ten minutes. Not your machine? Ask whoever runs the server for a link.
        {location.pathname !== '/' && ' Then come back to this page: it goes on where you were.'}
      </p>
    </main>
  );
}
