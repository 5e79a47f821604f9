import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Built } from './bundle.ts'

/** A file with its compressed variants, if they are smaller. */
export function withCompressed(file: Built): Built[] {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
  const compressed = [
    { path: `${file.path}.br`, bytes: brotliCompressSync(file.bytes, quality) },
    { path: `${file.path}.gz`, bytes: gzipSync(file.bytes, { level: 9 }) },
  ]
  return [file, ...compressed.filter(({ bytes }) => bytes.length < file.bytes.length)]
}

/**
 * Makes the folder contain exactly these files. Each is written completely and then renamed, so that a running service
 * never reads half a file. Unchanged files keep their modification time, and so their ETag.
 */
export function writeAll(folder: string, files: readonly Built[]): void {
  for (const { path, bytes } of files) {
    const target = join(folder, path)
    if (existsSync(target) && readFileSync(target).equals(bytes)) continue
    mkdirSync(dirname(target), { recursive: true })
    const draft = `${target}.${process.pid}.tmp`
    writeFileSync(draft, bytes)
    renameSync(draft, target)
  }
  const wanted = new Set(files.map(({ path }) => path))
  for (const path of filesIn(folder)) {
    if (!wanted.has(path) && !path.endsWith('.tmp')) rmSync(join(folder, path), { force: true })
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
}
