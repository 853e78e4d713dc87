import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Lists the modules whose code is in the dashboard. scripts/build.mjs reads the list to collect licences. */
const listModules: Plugin = {
  name: 'list-modules',
  generateBundle(_options, bundle) {
    const scripts = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
    // Style sheets are not part of a chunk, and a package that one of them imports is not a module.
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
    // scripts/budgets.ts uses it to find which files load together.
    manifest: true,
    // The server's content security policy allows nothing inline except images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
