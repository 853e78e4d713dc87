// Determines which packages are shipped: those whose code is in the bundles of dist/, and those that npm installs with the package. Plain JavaScript, because
// the build runs it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** npm installs these with the package; the build bundles all the others. `pg` is separate because it can load an optional native client at run time. */
export const EXTERNAL = ['pg'];

/** The build tools add small runtime modules of their own to the output. The ids of these modules are not file paths, but begin with these prefixes. */
const RUNTIMES = { '\0vite/': 'vite', '\0rolldown/': 'rolldown' };

/** Returns the folder of the package that a module belongs to. Undefined for a module of this repository. */
export function packageFolder(root, moduleId) {
  const runtime = Object.entries(RUNTIMES).find(([prefix]) => moduleId.startsWith(prefix));
  if (runtime) return join(root, 'node_modules', runtime[1]);
  const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(moduleId.replaceAll('\\', '/'))?.[0];
  return folder && resolve(root, folder);
}

/** Reads name, version, licence and dependencies of a package from its package.json. */
function readPackage(folder) {
  const { name, version, license, dependencies, optionalDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { name, version, license, folder, requires: Object.keys({ ...dependencies, ...optionalDependencies }) };
}

/** Sorts packages by name and removes duplicates, because two folders can contain the same version of a package. */
function distinct(packages) {
  const byRef = new Map(packages.map((one) => [purl(one), one]));
  return [...byRef.keys()].sort().map((ref) => byRef.get(ref));
}

export const bundledPackages = (folders) => distinct([...folders].map(readPackage));

/** Returns the external packages and all packages that npm installs because of them. */
export function installedPackages(root) {
  const found = new Map();
  const visit = (name, from) => {
    const folder = resolvePackage(name, from);
    if (!folder || found.has(folder)) return;
    found.set(folder, readPackage(folder));
    for (const required of found.get(folder).requires) visit(required, folder);
  };
  for (const name of EXTERNAL) visit(name, root);
  return distinct([...found.values()]);
}

/** Finds the folder of a package in the same way as Node: in the nearest node_modules folder, then in those above. */
function resolvePackage(name, from) {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  return dirname(from) === from ? undefined : resolvePackage(name, dirname(from));
}

/** Returns the licence terms of the bundled packages. They must be shipped together with the code. */
export function licenceText(packages) {
  return packages
    .map(
      ({ name, version, license, folder }) =>
        `${name} ${version} (${license})\n\n${termsIn(folder) ?? `This package has no licence file. Its manifest declares the licence ${license}.`}\n`,
    )
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function termsIn(folder) {
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!file) return undefined;
  // Vite's file also contains the licences of tools that Vite bundles. They are not part of our package.
  const [terms] = readFileSync(join(folder, file), 'utf8').split('\n# Licenses of bundled dependencies');
  return terms.trim();
}

/** Returns a CycloneDX 1.6 bill of materials. It has no timestamp and no serial number, so that the same sources always give the same file. */
export function billOfMaterials(product, bundled, installed) {
  const delivery = new Map([...installed.map((one) => [purl(one), 'installed']), ...bundled.map((one) => [purl(one), 'bundled'])]);
  const packages = distinct([...installed, ...bundled]);
  const refOf = (name, from) => {
    const folder = resolvePackage(name, from);
    const ref = folder && purl(readPackage(folder));
    return ref && delivery.has(ref) ? [ref] : [];
  };
  const edges = (ref, names, from) => ({ ref, dependsOn: [...new Set(names.flatMap((name) => refOf(name, from)))].sort() });
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: component('application', product) },
    components: packages.map((one) => ({
      ...component('library', one),
      scope: 'required',
      properties: [{ name: 'covenant:delivery', value: delivery.get(purl(one)) }],
    })),
    dependencies: [edges(purl(product), product.requires, product.folder), ...packages.map((one) => edges(purl(one), one.requires, one.folder))],
  };
}

export const readProduct = (root) => readPackage(root);

function component(type, one) {
  const [scope, bare] = one.name.startsWith('@') ? one.name.split('/') : [undefined, one.name];
  return { type, 'bom-ref': purl(one), ...(scope && { group: scope }), name: bare, version: one.version, licenses: licences(one.license), purl: purl(one) };
}

/** An SPDX expression such as `MIT OR Apache-2.0` belongs in another field than a single licence id. */
const licences = (license) => (/\s/.test(license) ? [{ expression: license }] : [{ license: { id: license } }]);

const purl = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`;
