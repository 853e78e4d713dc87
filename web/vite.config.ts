import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const folder = fileURLToPath(new URL('.', import.meta.url));

export default defineConfig({
  root: folder,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    // scripts/budgets.ts reads from it which files are loaded together.
    manifest: true,
    // The server's content security policy takes nothing inline but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
