import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isSignedOut } from './api.ts';
import { LiveJournal } from './live/live-journal.tsx';
import { Arrival, SignIn } from './pages/identity/sign-in.tsx';
import { Problem } from './parts/layout.tsx';
import { followPreferences } from './preferences.ts';
import { useRead } from './queries.ts';
import { queries } from './query-client.ts';
import { router } from './router.tsx';

/** If the page was opened with a sign-in link, this is the code in the link. */
const [, code] = /^\/signin\/([^/]+)$/.exec(location.pathname) ?? [];

/** Waits until it is known who is signed in, before anything else is loaded. */
function Gate() {
  const me = useRead('identity.me', {});
  if (isSignedOut(me.error)) return <SignIn />;
  if (me.data) {
    return (
      <LiveJournal>
        <RouterProvider router={router} />
      </LiveJournal>
    );
  }
  if (!me.error) return null;
  return (
    <main className="mx-auto max-w-lg p-4">
      <title>Covenant</title>
      <Problem what="The dashboard could not be opened." error={me.error} onRetry={() => void me.refetch()} />
    </main>
  );
}

followPreferences();
const root = document.getElementById('root');
if (!root) throw new Error('no #root in the page');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>{code === undefined ? <Gate /> : <Arrival code={code} />}</QueryClientProvider>
  </StrictMode>,
);
