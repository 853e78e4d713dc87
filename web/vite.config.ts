import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Writes a list of the modules whose code is part of the dashboard. scripts/build.mjs reads the list to collect their licences. */
const listModules: Plugin = {
  name: 'list-modules',
  generateBundle(_options, bundle) {
    const scripts = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
    // Style sheets must be added separately, because they are not part of a chunk, and packages that they import are not modules.
    const styles = [...this.getModuleIds()].filter((id) => id.endsWith('.css'));
    const imported = styles.flatMap((id) => [...readFileSync(id, 'utf8').matchAll(/@import ['"](\w[^'"]*)/g)].map(([, name]) => `node_modules/${name}`));
    this.emitFile({ type: 'asset', fileName: '.vite/modules.json', source: JSON.stringify([...new Set([...scripts, ...styles, ...imported])].sort()) });
  },
};

export default defineConfig({
  root: folder,
  plugins: [react(), tailwindcss(), listModules],
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    // scripts/budgets.ts reads the manifest to find which files load together.
    manifest: true,
    // Assets must not be inlined, because the server's content security policy allows only inline images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
