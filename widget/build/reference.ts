import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Built } from './bundle.ts'

/** The viewer of the API reference: swagger-ui as it is published. */
export function reference(): Built[] {
  const viewer = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const files = [
    ['viewer.js', join(viewer, 'swagger-ui-bundle.js')],
    ['viewer.css', join(viewer, 'swagger-ui.css')],
    ['LICENSE.txt', join(viewer, 'LICENSE')],
  ] as const
  return files.flatMap(([name, source]) => {
    // Without the names of maps that are not there.
    const text = readFileSync(source, 'utf8').replaceAll(/\n\/[/*]# sourceMappingURL=.*/g, '')
    const file = { path: `reference/${name}`, bytes: Buffer.from(text) }
    // Compressing 1.7 MB with brotli would double the time of the build.
    return [file, { path: `${file.path}.gz`, bytes: gzipSync(file.bytes) }]
  })
}
