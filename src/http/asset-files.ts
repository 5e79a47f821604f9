import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import sirv from 'sirv'
import { packageRoot } from '../lib/package-root.ts'

/** Where widget/build.ts leaves what browsers load. */
export const ASSETS = join(packageRoot(), 'dist', 'widget')

/**
 * Looks at the disk with each request (`dev`): what it remembers otherwise are sizes, which a build that runs beside the
 * service makes wrong. The files' own compressed twins are sent to browsers that take them.
 */
const files = sirv(ASSETS, {
  dev: true,
  etag: true,
  brotli: true,
  gzip: true,
  extensions: [],
  setHeaders: (res, path) => {
    res.setHeader('x-content-type-options', 'nosniff')
    // The loader is run by pages in any encoding.
    if (path.endsWith('.js')) res.setHeader('content-type', 'text/javascript; charset=utf-8')
  },
})

/**
 * Answers with a file of the build, or calls `missing` where there is no such file.
 * @param file.path below the folder of the build; the caller has checked that it may be asked for
 */
export function sendAsset(
  req: IncomingMessage,
  res: ServerResponse,
  { path, headers, missing }: { path: string; headers: Readonly<Record<string, string>>; missing: () => void },
): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  const { range: _, ...whole } = req.headers
  // Small files, sent whole: a part of one is nothing that a browser asks for here.
  const asked = { url: `/${path}`, method: req.method, headers: whole }
  files(asked as IncomingMessage, res, () => {
    for (const name of Object.keys(headers)) res.removeHeader(name)
    missing()
  })
}

/** A page of the build as text, null where there is none. */
export async function readPage(name: string): Promise<string | null> {
  return readFile(join(ASSETS, 'pages', name), 'utf8').catch(() => null)
}
