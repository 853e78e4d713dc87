import { Outlet } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { DialogHost } from '../parts/dialog.tsx';
import { TableSkeleton } from '../parts/loaded.tsx';
import { Toasts, useToast } from '../parts/toast.tsx';
import { takeWelcome } from '../session.ts';
import { DisconnectedBar } from './disconnected-bar.tsx';
import { Header } from './header.tsx';
import { Keyboard } from './keyboard.tsx';
import { Rail } from './rail.tsx';

/** The frame of every page: navigation, header, content, dialogs and toasts. */
export function Shell() {
  return (
    <Toasts>
      <div className="min-h-dvh sm:pl-14 max-sm:pb-16 lg:pl-52">
        <a href="#content" className="button absolute top-1 left-1 z-30 -translate-y-20 focus:translate-y-0">
          Skip to content
        </a>
        <Rail />
        <Header />
        <DisconnectedBar />
        <main id="content" tabIndex={-1} className="px-4 pt-4 pb-10 outline-none lg:px-6">
          {/* Shown while the code of a page is fetched, when the page is opened for the first time. */}
          <Suspense fallback={<TableSkeleton />}>
            <Outlet />
          </Suspense>
        </main>
        <Keyboard />
        <DialogHost />
        <Welcome />
      </div>
    </Toasts>
  );
}

/** Shows the account after every sign-in, because the link may have been for a different account. */
function Welcome() {
  const say = useToast();
  useEffect(() => {
    const words = takeWelcome();
    if (words !== null) say(words);
  }, [say]);
  return null;
}
