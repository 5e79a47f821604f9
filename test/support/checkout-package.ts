import { build } from 'esbuild'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { packageRoot } from '../../src/lib/package-root.ts'
import { ensureBuilt } from './built.ts'

export type Shop = {
  /** The shop's folder. */
  folder: string
  /** The files of the package, as npm packs them. */
  files: string[]
}

/** A shop's project that has installed the packed package for pages, beside these packages of ours. */
export function installCheckoutPackage(t: Test, packages: readonly string[]): Shop {
  ensureBuilt('package')
  const root = packageRoot()
  const folder = mkdtempSync(join(tmpdir(), 'svc-shop-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const source = join(root, 'dist', 'checkout-package')
  const packed = execFileSync('npm', ['pack', source, '--json', '--pack-destination', folder], { cwd: folder })
  const [{ filename, files }] = JSON.parse(packed.toString('utf8')) as [Packed]
  const target = join(folder, 'node_modules', '@svc/checkout')
  mkdirSync(target, { recursive: true })
  execFileSync('tar', ['xzf', join(folder, filename), '-C', target, '--strip-components=1'])
  for (const name of packages) {
    const place = join(folder, 'node_modules', name)
    mkdirSync(join(place, '..'), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), place)
  }
  return { folder, files: files.map(({ path }) => path) }
}

type Packed = { filename: string; files: readonly { path: string }[] }

type Mode = 'development' | 'production'

/** Makes a page's script from the text of its module, with the packages of the shop's folder. */
export function bundlerOf(folder: string): (contents: string, mode?: Mode) => Promise<{ js: string }> {
  return async (contents, mode = 'development') => {
    const { outputFiles } = await build({
      stdin: { contents, loader: 'jsx', resolveDir: folder },
      bundle: true,
      write: false,
      jsx: 'automatic',
      format: 'iife',
      define: {
        'process.env.NODE_ENV': JSON.stringify(mode),
        __VUE_OPTIONS_API__: 'true',
        __VUE_PROD_DEVTOOLS__: 'false',
        __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
      },
    })
    return { js: outputFiles[0]?.text ?? '' }
  }
}
