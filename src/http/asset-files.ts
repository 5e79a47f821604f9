import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import sirv from 'sirv'
import { packageRoot } from '../lib/package-root.ts'

/** The folder of the files for browsers, which widget/build.ts writes. */
export const ASSETS = join(packageRoot(), 'dist', 'widget')

/**
 * Serves the built files. `dev` reads the disk on each request, because otherwise sirv remembers sizes, which a build while
 * the service runs makes wrong. Browsers that accept compression get the compressed copy of a file.
 */
const files = sirv(ASSETS, {
  dev: true,
  etag: true,
  brotli: true,
  gzip: true,
  extensions: [],
  setHeaders: (res, path) => {
    res.setHeader('x-content-type-options', 'nosniff')
    // Pages of any encoding run the loader.
    if (path.endsWith('.js')) res.setHeader('content-type', 'text/javascript; charset=utf-8')
  },
})

/**
 * Responds with a file of the build, or calls `missing` if there is no such file.
 * @param file.path below the folder of the build; the caller has checked that it may be served
 */
export function sendAsset(
  req: IncomingMessage,
  res: ServerResponse,
  { path, headers, missing }: { path: string; headers: Readonly<Record<string, string>>; missing: () => void },
): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  const { range: _, ...whole } = req.headers
  // The files are small, so they are always sent whole.
  const request = { url: `/${path}`, method: req.method, headers: whole }
  files(request as IncomingMessage, res, () => {
    for (const name of Object.keys(headers)) res.removeHeader(name)
    missing()
  })
}

/** A page of the build as text; null if it was not built. */
export async function readPage(name: string): Promise<string | null> {
  return readFile(join(ASSETS, 'pages', name), 'utf8').catch(() => null)
}
