import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { SOURCES } from './bundle.ts'
import { checkoutManifest } from './package-manifest.ts'

/*
 * Builds the npm package for merchants' pages into dist/checkout-package or the given folder: a module and its types for
 * each source, with what `npm pack` needs beside them.
 */
const root = join(SOURCES, '..')
const source = join(SOURCES, 'package')
const folder = process.argv[2] ?? join(root, 'dist', 'checkout-package')

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
rmSync(folder, { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [compiler, '-p', source, '--outDir', folder], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
// The compiler writes `./types.ts` into declarations, which not every version of TypeScript reads as the one beside it.
for (const name of readdirSync(folder).filter((each) => each.endsWith('.d.ts'))) {
  const path = join(folder, name)
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(['"]\.\/[\w-]+)\.ts(['"])/g, '$1.js$2'))
}
// A module of types alone has no code.
rmSync(join(folder, 'types.js'))
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
copyFileSync(join(source, 'README.md'), join(folder, 'README.md'))
// Last, since its time says that the package is complete.
const read = (path: string) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(checkoutManifest(read(source), read(root)), null, 2)}\n`)
