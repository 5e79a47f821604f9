import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import sirv from 'sirv'
import { packageRoot } from '../lib/package-root.ts'

/** The folder of the files for browsers, which widget/build.ts writes. */
export const ASSETS = join(packageRoot(), 'dist', 'widget')

/**
 * Responds with a file of the build, or calls `missing` if there is no such file. Resolves when the response has ended.
 * @throws if the file can't be read, which may be after the headers were sent
 */
export type SendAsset = (req: IncomingMessage, res: ServerResponse, file: AssetFile) => Promise<void>

/** Its path below the folder of the build, which the caller has checked, and the headers that it gets. */
type AssetFile = { path: string; headers: Readonly<Record<string, string>>; missing: () => void }

/**
 * Serves the built files. Browsers that accept compression get the compressed copy of a file.
 * @param isChanging whether a build may replace the files while the service runs: each request then reads the disk, which
 *   sirv advises against in production, since it otherwise remembers the files of the start
 */
export function makeSendAsset({ isChanging }: { isChanging: boolean }): SendAsset {
  const files = sirv(ASSETS, {
    dev: isChanging || !existsSync(ASSETS),
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
  return async (req, res, { path, headers, missing }) => {
    const ended = endOfPiped(res)
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    const { range: _, ...whole } = req.headers
    // The files are small, so they are always sent whole.
    const request = { url: `/${path}`, method: req.method, headers: whole }
    files(request as IncomingMessage, res, () => {
      for (const name of Object.keys(headers)) res.removeHeader(name)
      missing()
    })
    await ended
  }
}

/**
 * sirv pipes a file into the response and forgets it: the file of a client that has gone would stay open, and a file that
 * can't be read would end the process.
 */
function endOfPiped(res: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    res.once('pipe', (file: Readable) => {
      file.on('error', reject)
      res.once('close', () => file.destroy())
    })
    res.once('close', resolve)
  })
}

/** A page of the build as text; null if it was not built. */
export async function readPage(name: string): Promise<string | null> {
  return readFile(join(ASSETS, 'pages', name), 'utf8').catch(() => null)
}
