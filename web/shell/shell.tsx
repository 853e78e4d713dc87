import { Outlet } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { DialogHost } from '../parts/open-dialog.tsx';
import { TableSkeleton } from '../parts/table.tsx';
import { Toasts, useToast } from '../parts/toast.tsx';
import { welcome } from '../session.ts';
import { DisconnectedBar } from './disconnected-bar.tsx';
import { Header } from './header.tsx';
import { Keyboard } from './keyboard.tsx';
import { Rail } from './rail.tsx';

/** After every sign-in the page says whose account it is: a link may be somebody else's. */
function Welcome() {
  const say = useToast();
  useEffect(() => {
    const words = welcome();
    if (words !== null) say(words);
  }, [say]);
  return null;
}

/** Rail from 1024 px, icons from 640, a bar at the bottom below. */
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
          {/* A page's own part is fetched when it is first opened. */}
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
