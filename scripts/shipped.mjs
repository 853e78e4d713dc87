// The packages that ship: those in the bundles of dist/, and those that npm installs with them. Plain JavaScript, because the build runs it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** npm installs these with the package; the build bundles all the others. `pg` is separate because it can load an optional native client at run time. */
export const EXTERNAL = ['pg'];

/** The build tools add small runtimes to their output. Their module ids are virtual. */
const RUNTIMES = { '\0vite/': 'vite', '\0rolldown/': 'rolldown' };

/** The folder of the package that a module belongs to, or undefined for a module of this repository. */
export function packageFolder(root, moduleId) {
  const runtime = Object.entries(RUNTIMES).find(([prefix]) => moduleId.startsWith(prefix));
  if (runtime) return join(root, 'node_modules', runtime[1]);
  const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(moduleId.replaceAll('\\', '/'))?.[0];
  return folder && resolve(root, folder);
}

/** A package as its own manifest describes it. */
function readPackage(folder) {
  const { name, version, license, dependencies, optionalDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { name, version, license, folder, requires: Object.keys({ ...dependencies, ...optionalDependencies }) };
}

/** Sorted by name, without repetitions: two folders can contain the same version of a package. */
function distinct(packages) {
  const byRef = new Map(packages.map((one) => [purl(one), one]));
  return [...byRef.keys()].sort().map((ref) => byRef.get(ref));
}

export const bundledPackages = (folders) => distinct([...folders].map(readPackage));

/** The external packages and everything that npm installs for them. */
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

/** As Node looks for it: in the nearest node_modules, then in those above. */
function resolvePackage(name, from) {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  return dirname(from) === from ? undefined : resolvePackage(name, dirname(from));
}

/** The licence terms of the bundled code. They must accompany it. */
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
  // Vite also lists the licences of its own tools, which do not ship.
  const [terms] = readFileSync(join(folder, file), 'utf8').split('\n# Licenses of bundled dependencies');
  return terms.trim();
}

/** A CycloneDX 1.6 bill of materials. It has no timestamp and no serial number, so that equal sources give an equal file. */
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
